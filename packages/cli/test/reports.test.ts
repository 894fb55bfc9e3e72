import { describe, expect, it } from 'vitest';
import { aFailedJob, sqlite } from './stores.js';

const MOMENT = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g;

describe('q status', () => {
  it('says that nothing is queued', async () => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['status']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'No jobs queued.\n\nfailed: 0\n', stderr: '' });
  });

  it('counts what each queue holds, and the failed jobs', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    await store.push('quick');
    await store.push('quick');
    await store.driver.reserve(['default'], 60, 'tester');
    await store.push('quick', {}, { queue: 'mail', delay: 60 });
    const { code, stdout, stderr } = await store.q(['status']);
    expect(stdout).toBe(`\
queue    pending  delayed  held  total
default        1        0     1      2
mail           0        1     0      1

failed: 1  see them with: q failed
`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('is one line of JSON with --json', async () => {
    await using store = await sqlite.open();
    await store.push('quick');
    const { code, stdout } = await store.q(['status', '--json']);
    const queues = [{ queue: 'default', pending: 1, delayed: 0, reserved: 0, total: 1 }];
    expect(stdout).toBe(`${JSON.stringify({ queues, failed: 0 })}\n`);
    expect(code).toBe(0);
  });

  it('goes on with --watch until it is told to stop', async () => {
    await using store = await sqlite.open();
    const watching = store.start(['status', '--watch=0.1', '--json']);
    await watching.said('{"queues":[],"failed":0}\n{"queues":[],"failed":0}\n');
    await store.push('quick');
    await watching.said('"pending":1');
    watching.child.kill('SIGINT');
    const { code, stderr } = await watching.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe('q failed', () => {
  it('says that none failed', async () => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['failed']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'No failed jobs.\n', stderr: '' });
  });

  it('lists them, newest first, with the first line of the error, and says how to retry', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store, { name: 'first', error: 'Error: one\n    at somewhere' });
    await aFailedJob(store, { name: 'second', queue: 'mail', error: 'Error: two' });
    const { code, stdout, stderr } = await store.q(['failed']);
    expect(stdout.replace(MOMENT, '2027-01-01 00:00:00')).toBe(`\
id  failed at (UTC)      queue    name    attempts  error
 2  2027-01-01 00:00:00  mail     second         1  Error: two
 1  2027-01-01 00:00:00  default  first          1  Error: one

Retry them with: q retry --id=N, or q retry --all. See one in full with: q failed --id=N
`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('lists at most --limit of them, and says that there are more', async () => {
    await using store = await sqlite.open();
    for (let n = 0; n < 3; n += 1) await aFailedJob(store);
    const { stdout } = await store.q(['failed', '--limit=2']);
    expect(stdout).toContain('\n\n2 of 3; see more with --limit.\n');
    expect(stdout.match(MOMENT)?.length).toBe(2);
  });

  it('gives whole rows with --json', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store, { payload: { n: 1 }, error: 'Error: one\n    at somewhere' });
    const { code, stdout } = await store.q(['failed', '--json']);
    const rows: unknown = JSON.parse(stdout);
    expect(rows).toEqual([
      {
        id: 1,
        failedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        queue: 'default',
        name: 'boom',
        payloadJson: '{"n":1}',
        attempts: 1,
        error: 'Error: one\n    at somewhere',
      },
    ]);
    expect(code).toBe(0);
  });

  it('tells one in full with --id', async () => {
    await using store = await sqlite.open();
    const id = await aFailedJob(store, { payload: { n: 1 }, error: 'Error: one\n    at somewhere' });
    const { code, stdout } = await store.q(['failed', `--id=${id}`]);
    expect(stdout.replace(MOMENT, '2027-01-01 00:00:00')).toBe(`\
id         1
failed at  2027-01-01 00:00:00 UTC
queue      default
name       boom
attempts   1
payload    {"n":1}

Error: one
    at somewhere
`);
    expect(code).toBe(0);
    const asJson = await store.q(['failed', `--id=${id}`, '--json']);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ id: 1, name: 'boom', payloadJson: '{"n":1}' });
  });

  it('fails with --id of one that is not there', async () => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['failed', '--id=7']);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'error: there is no failed job 7\n' });
  });
});

describe('q retry', () => {
  it('requeues one with the tries of the config', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    const id = await aFailedJob(store, { name: 'quick', payload: { n: 1 } });
    const { code, stdout, stderr } = await store.q(['retry', `--id=${id}`]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Requeued 1 job.\n', stderr: '' });
    expect(await store.driver.reserve(['default'], 60, 'tester')).toMatchObject({
      name: 'quick',
      payloadJson: '{"n":1}',
      maxAttempts: 2,
    });
    expect(await store.driver.failedCount()).toBe(1);
  });

  it('requeues all', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    await aFailedJob(store);
    const { code, stdout } = await store.q(['retry', '--all']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Requeued 2 jobs.\n' });
    expect(await store.driver.failedCount()).toBe(0);
  });

  it('fails with an id that is not there, and does not with --all of none', async () => {
    await using store = await sqlite.open();
    const one = await store.q(['retry', '--id=7']);
    expect([one.code, one.stdout, one.stderr]).toEqual([1, '', 'error: there is no failed job 7\n']);
    const all = await store.q(['retry', '--all']);
    expect([all.code, all.stdout, all.stderr]).toEqual([0, 'No failed jobs.\n', '']);
  });
});

describe('q forget', () => {
  it('deletes one', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    const id = await aFailedJob(store);
    const { code, stdout, stderr } = await store.q(['forget', `--id=${id}`]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Forgot 1 failed job.\n', stderr: '' });
    expect((await store.driver.failedRows(9)).map((job) => job.id)).toEqual([1]);
  });

  it('deletes all', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    await aFailedJob(store);
    expect(await store.q(['forget', '--all'])).toMatchObject({ code: 0, stdout: 'Forgot 2 failed jobs.\n' });
    expect(await store.q(['forget', '--all'])).toMatchObject({ code: 0, stdout: 'Forgot 0 failed jobs.\n' });
  });

  it('deletes those before a moment, a bare date being its midnight, in UTC wherever the process is', async () => {
    await using store = await sqlite.open();
    await aFailedJob(store);
    const [job] = await store.driver.failedRows(1);
    const moment = (ms: number) => new Date((job?.failedAt.getTime() ?? 0) + ms).toISOString();
    const env = { TZ: 'Pacific/Auckland' };
    const forget = (before: string) => store.q(['forget', '--before', before], { env });
    expect((await forget(moment(0).slice(0, 10))).stdout).toBe('Forgot 0 failed jobs.\n');
    expect((await forget(moment(0).slice(0, 19).replace('T', ' '))).stdout).toBe('Forgot 0 failed jobs.\n');
    expect((await forget(moment(1000).slice(0, 19).replace('T', ' '))).stdout).toBe('Forgot 1 failed job.\n');
    await aFailedJob(store);
    expect((await forget(moment(2 * 86_400_000).slice(0, 10))).stdout).toBe('Forgot 1 failed job.\n');
  });

  it('fails with an id that is not there', async () => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['forget', '--id=7']);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'error: there is no failed job 7\n' });
  });
});

describe('what the store holds', () => {
  it('reaches a terminal as text alone', async () => {
    await using store = await sqlite.open();
    const id = await aFailedJob(store, { error: 'Error: \u001b[2Jgone\r\u009b31m\u202e\n\tat \u0007' });
    const table = await store.q(['failed']);
    expect(table.stdout).toContain('Error: \\u001b[2Jgone\\u000d\\u009b31m\\u202e\n');
    const full = await store.q(['failed', `--id=${id}`]);
    expect(full.stdout).toContain('\n\nError: \\u001b[2Jgone\\u000d\\u009b31m\\u202e\n\tat \\u0007\n');
    const json = await store.q(['failed', '--json']);
    expect(json.stdout).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(JSON.parse(json.stdout)[0].error).toBe('Error: \u001b[2Jgone\r\u009b31m\u202e\n\tat \u0007');
  });
});
