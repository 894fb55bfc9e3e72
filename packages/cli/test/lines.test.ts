import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { aFailedJob, OTHER_STORES } from './stores.js';

/**
 * Each line of the table of commands, and each exit code, on the other stores. What a command says in every case is in
 * the tests that are named after it, on SQLite.
 */
describe.each(OTHER_STORES)('On $name', ({ open }) => {
  it('q install --print prints SQL that makes the tables', async () => {
    await using store = await open();
    const { code, stdout, stderr } = await store.q(['install', '--print']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    await apply(stdout);
    const written = await store.q(['install', '--dir=sql']);
    expect(written.stdout).toMatch(/^Wrote sql\/\S+-create-queue-tables\.sql: review it, then apply it\n$/);
  });

  it('q work runs jobs, tells of them and exits with 0, whatever became of them', async () => {
    await using store = await open();
    const done = await store.push('quick', {}, { queue: 'high' });
    const failed = await store.push('boom', { message: 'no mailbox' });
    const args = ['--queue=high,default', '--concurrency=1', '--stop-when-empty', '--max-jobs=9', '--max-time=60'];
    const { code, stdout, stderr } = await store.q(['work', ...args, '--memory=2000', '--sleep=0.1', '--timeout=30']);
    expect(code).toBe(0);
    expect(stdout.replace(/\d+ms/, '<n>ms').split('\n').slice(1)).toEqual([
      `-> quick #${done} (attempt 1/1)`,
      '   done in <n>ms',
      `-> boom #${failed} (attempt 1/1)`,
      '   failed for good: no mailbox',
      'Nothing left to do',
      'Ran 2 jobs',
      '',
    ]);
    expect(stderr).toBe(`error: boom #${failed} failed for good: no mailbox\n`);
  });

  it('q work --once runs one job', async () => {
    await using store = await open();
    await store.push('quick');
    await store.push('quick');
    const { code, stdout } = await store.q(['work', '--once']);
    expect({ code, ran: stdout.endsWith('\nRan 1 job\n') }).toEqual({ code: 0, ran: true });
    expect(await store.driver.pending()).toBe(1);
  });

  it('q work finishes its job at SIGTERM', async () => {
    await using store = await open();
    await store.push('slow', { ms: 500 });
    const worker = store.start(['work']);
    await worker.said('-> slow');
    worker.child.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\nStopping: asked to shut down\n {3}done in \d+ms\nRan 1 job\n$/);
  });

  it('q work puts its job back at a second SIGTERM, and is gone within a second', async () => {
    await using store = await open();
    const id = await store.push('stubborn', { ms: 60_000 });
    const worker = store.start(['work']);
    await worker.said('-> stubborn');
    worker.child.kill('SIGTERM');
    await worker.said('Stopping: asked to shut down');
    worker.child.kill('SIGTERM');
    const sentMs = performance.now();
    const { code, atMs } = await worker.ended;
    expect(code).toBe(0);
    expect(atMs - sentMs).toBeLessThan(1000);
    expect(await store.driver.find(id)).toMatchObject({ state: 'pending', reservedUntil: null });
  });

  it('q status counts jobs', async () => {
    await using store = await open();
    const nothing = await store.q(['status']);
    expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([0, 'No jobs queued.\n\nfailed: 0\n', '']);
    await aFailedJob(store);
    await store.push('quick');
    await store.push('quick', {}, { delay: 60 });
    const { code, stdout, stderr } = await store.q(['status']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      'queue    pending  delayed  held  total\ndefault        1        1     0      2\n\nfailed: 1  see them with: q failed\n',
    );
  });

  it('q failed lists failures, q retry and q forget act on them', async () => {
    await using store = await open();
    for (const error of ['Error: one', 'Error: two\nmore', 'Error: three']) await aFailedJob(store, { error });
    const list = await store.q(['failed', '--limit=2']);
    expect([list.code, list.stderr]).toEqual([0, '']);
    expect(list.stdout).toMatch(/^id .*\n +3 .*Error: three\n +2 .*Error: two\n\n2 of 3; .*\nRetry them with: /);
    expect((await store.q(['failed', '--id=2'])).stdout).toMatch(/^id +2\n[\s\S]*\n\nError: two\nmore\n$/);
    expect(await store.q(['retry', '--id=3'])).toMatchObject({ code: 0, stdout: 'Requeued 1 job.\n' });
    expect(await store.q(['retry', '--id=3'])).toMatchObject({ code: 1, stderr: 'error: there is no failed job 3\n' });
    expect(await store.q(['forget', '--before=2020-01-01'])).toMatchObject({
      code: 0,
      stdout: 'Forgot 0 failed jobs.\n',
    });
    expect(await store.q(['forget', '--id=2'])).toMatchObject({ code: 0, stdout: 'Forgot 1 failed job.\n' });
    expect(await store.q(['retry', '--all'])).toMatchObject({ code: 0, stdout: 'Requeued 1 job.\n' });
    expect(await store.q(['retry', '--all'])).toMatchObject({ code: 0, stdout: 'No failed jobs.\n' });
    expect(await store.driver.reserve(['default'], 60, 'tester')).toMatchObject({ attempts: 1, maxAttempts: 2 });
  });

  it('q why tells of a job', async () => {
    await using store = await open();
    const id = await store.push('quick');
    const next = await store.push('quick');
    await store.driver.reserve(['default'], 60, 'host:12');
    const held = await store.q(['why', String(id)]);
    expect([held.code, held.stderr]).toEqual([0, '']);
    expect(held.stdout).toMatch(/^Job \d+ \(quick\) is held by host:12 until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\n$/);
    expect((await store.q(['why', String(next)])).stdout).toContain(': it is next in queue default, waiting');
    expect((await store.q(['why', '99'])).stdout).toBe('Job 99 is not there: it is done, or was never pushed.\n');
  });
});

async function apply(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres') });
  await client.connect();
  // Tables of this transaction alone: the server is shared.
  await client.query(`BEGIN; CREATE SCHEMA tried; SET LOCAL search_path = tried; ${sql}; ROLLBACK`);
  await client.end();
}
