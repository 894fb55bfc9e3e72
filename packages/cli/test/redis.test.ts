import { describe, expect, it } from 'vitest';
import { redis } from './stores.js';

/** What the command wrote, with its ids of workers, times and moments made the same each time. */
function same(text: string): string {
  return text
    .replace(/Worker \S+/g, 'Worker <id>')
    .replace(/\d+ms/g, '<n>ms')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<moment>');
}

describe('On Redis, q work', () => {
  it('tells every job it runs, and keeps those that failed for q failed --id', async () => {
    await using store = await redis.open();
    const ids = [await store.push('quick'), await store.push('release', {}, { maxAttempts: 3 })];
    ids.push(await store.push('boom', { message: 'no mailbox' }, { maxAttempts: 3 }));
    ids.push(await store.push('boom', { message: 'no mailbox' }));
    const { code, stdout, stderr } = await store.q(['work', '--stop-when-empty']);
    expect(same(stdout)).toBe(`\
Worker <id> watching default
-> quick #${ids[0]} (attempt 1/1)
   done in <n>ms
-> release #${ids[1]} (attempt 1/3)
   released, back in 45s
-> boom #${ids[2]} (attempt 1/3)
   failed, retrying in 90s: no mailbox
-> boom #${ids[3]} (attempt 1/1)
   failed for good: no mailbox
Nothing left to do
Ran 4 jobs
`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `error: boom #${ids[3]} failed for good: no mailbox\n` });
    const failed = await store.q(['failed', `--id=${ids[3]}`]);
    expect([failed.code, failed.stderr]).toEqual([0, '']);
    expect(failed.stdout).toContain('\n\nError: no mailbox\n');
  });

  it('starts a job as soon as it is pushed, and is not kept by its connections at SIGTERM', async () => {
    await using store = await redis.open();
    const worker = store.start(['work', '--queue=high,low', '--sleep=60']);
    await worker.said(' watching high, low\n');
    const id = await store.push('quick', {}, { queue: 'low' });
    await worker.said(`-> quick #${id} (attempt 1/1)\n   done in `);
    worker.child.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.endsWith('Stopping: asked to shut down\nRan 1 job\n')).toBe(true);
  });
});

describe('On Redis, q why', () => {
  it.each([
    ['is not there', async () => 7, () => 'Job 7 is not there: it is done, or was never pushed.'],
    [
      'waits behind another',
      async (store) => {
        await store.push('quick');
        return store.push('quick');
      },
      (id) => `Job ${id} (quick): it is waiting behind 1 job in queue default.`,
    ],
    [
      'is delayed after a failure',
      async ({ push, driver }) => {
        const id = await push('boom', {}, { maxAttempts: 3 });
        const claim = await driver.reserve(['default'], 60, 'host:12');
        if (claim !== null) await driver.release(claim, 60, 'Error: no\n    at send');
        return id;
      },
      (id) => `Job ${id} (boom) is delayed until <moment> UTC, after attempt 1 of 3 failed: Error: no.`,
    ],
    [
      'is in hand',
      async ({ push, driver }) => {
        const id = await push('quick');
        await driver.reserve(['default'], 60, 'host:12');
        return id;
      },
      (id) => `Job ${id} (quick) is held by host:12 until <moment> UTC.`,
    ],
    [
      'was in the hand of somebody who died',
      async ({ push, driver }) => {
        const id = await push('quick');
        await driver.reserve(['default'], 0, 'host:13');
        return id;
      },
      (id) =>
        `The claim of host:13 on job ${id} (quick) expired at <moment> UTC, and it is next in queue default, waiting for a worker.`,
    ],
    [
      'has failed',
      async ({ push, driver }) => {
        const id = await push('boom');
        const claim = await driver.reserve(['default'], 60, 'host:12');
        if (claim !== null) await driver.fail(claim, 'Error: no such mailbox\n    at send');
        return id;
      },
      (id) => `No job ${id} is queued; failed job ${id} (boom) failed at <moment> UTC: Error: no such mailbox`,
    ],
  ] satisfies readonly Case[])('says of a job that it %s', async (_, prepare, sentence) => {
    await using store = await redis.open();
    const id = await prepare(store);
    const { code, stdout, stderr } = await store.q(['why', String(id)]);
    expect({ code, stdout: same(stdout), stderr }).toEqual({ code: 0, stdout: `${sentence(id)}\n`, stderr: '' });
  });
});

type Case = readonly [
  string,
  (store: Awaited<ReturnType<typeof redis.open>>) => Promise<number>,
  (id: number) => string,
];

describe('On Redis, a command that needs reports', () => {
  it.each(['status', 'status --watch --json', 'failed', 'retry --all', 'retry --id=1', 'forget --all'])(
    'q %s exits 2 with one line that names the driver',
    async (line) => {
      await using store = await redis.open();
      const { code, stdout, stderr } = await store.q(line.split(' '));
      const error = `error: RedisDriver keeps no reports, so there is no q ${line.split(' ')[0]} on it\n`;
      expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: error });
    },
  );

  it('or a schema has nothing to install', async () => {
    await using store = await redis.open();
    const { code, stdout, stderr } = await store.q(['install']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Nothing to install\n', stderr: '' });
  });
});
