import { describe, expect, it } from 'vitest';
import type { Started } from './project.js';
import { type StoreProject, sqlite } from './stores.js';

/** What a worker wrote, with its id and its times made the same each time. */
function same(text: string): string {
  return text.replace(/Worker \S+/g, 'Worker <id>').replace(/\d+ms/g, '<n>ms');
}

async function working(store: StoreProject, args: readonly string[]): Promise<Started> {
  const worker = store.start(['work', ...args]);
  await worker.said(' watching ');
  return worker;
}

describe('q work', () => {
  it('tells every job it runs, and on stderr too which of them failed for good', async () => {
    await using store = await sqlite.open();
    const ids = [await store.push('quick'), await store.push('release', {}, { maxAttempts: 3 })];
    ids.push(await store.push('boom', { message: 'no mailbox\nat all' }, { maxAttempts: 3 }));
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
  });

  it('takes the queues of --queue in their order, and with --once at most one job', async () => {
    await using store = await sqlite.open();
    await store.push('quick', {}, { queue: 'low' });
    const high = await store.push('quick', {}, { queue: 'high' });
    const { code, stdout, stderr } = await store.q(['work', '--queue=high,low', '--once']);
    expect(same(stdout)).toBe(`\
Worker <id> watching high, low
-> quick #${high} (attempt 1/1)
   done in <n>ms
Stopping: ran 1 job
Ran 1 job
`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await store.driver.pending()).toBe(1);
  });

  it('ends at once with --once where nothing is due', async () => {
    await using store = await sqlite.open();
    const { code, stdout } = await store.q(['work', '--once']);
    expect([code, same(stdout)]).toEqual([0, 'Worker <id> watching default\nNothing left to do\nRan 0 jobs\n']);
  });

  it('ends after --max-jobs', async () => {
    await using store = await sqlite.open();
    for (let n = 0; n < 3; n += 1) await store.push('quick');
    const { code, stdout } = await store.q(['work', '--max-jobs=2']);
    expect(code).toBe(0);
    expect(stdout).toContain('\nStopping: ran 2 jobs\nRan 2 jobs\n');
    expect(await store.driver.pending()).toBe(1);
  });

  it('ends after --max-time, wherever it is in its --sleep', async () => {
    await using store = await sqlite.open();
    const { code, stdout } = await store.q(['work', '--max-time=1', '--sleep=60']);
    expect([code, same(stdout)]).toEqual([
      0,
      'Worker <id> watching default\nStopping: been going for 1s\nRan 0 jobs\n',
    ]);
  });

  it('ends when it uses more than --memory', async () => {
    await using store = await sqlite.open();
    const { code, stdout } = await store.q(['work', '--memory=1']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nStopping: using \d+MB\nRan 0 jobs\n$/);
  });

  it('runs --concurrency jobs at once, and numbers their lines', async () => {
    await using store = await sqlite.open();
    const [one, two] = [await store.push('slow', { ms: 300 }), await store.push('slow', { ms: 300 })];
    const { stdout } = await store.q(['work', '--concurrency=2', '--stop-when-empty']);
    const lines = same(stdout).split('\n');
    expect(lines.slice(1, 3)).toEqual([`-> slow #${one} (attempt 1/1)`, `-> slow #${two} (attempt 1/1)`]);
    expect(lines.slice(3, 5).sort()).toEqual([`   #${one} done in <n>ms`, `   #${two} done in <n>ms`]);
  });

  it('gives a handler --timeout seconds, and ends with 1 where it was abandoned', async () => {
    await using store = await sqlite.open({ rest: 'worker: { grace: 0.1, timeout: 600 },' });
    const id = await store.push('stubborn', { ms: 60_000 });
    const { code, stdout, stderr } = await store.q(['work', '--timeout=0.1']);
    expect(code).toBe(1);
    expect(stdout).toContain('\n   failed for good: The job ran past the timeout\n');
    expect(stdout).toContain('\nStopping: 1 abandoned handler is still running\nRan 1 job\n');
    expect(stderr).toContain(`error: stubborn #${id} did not settle in its grace and was abandoned\n`);
  });

  it('writes every event as a line of JSON with --json, and the same as ever on stderr', async () => {
    await using store = await sqlite.open();
    const id = await store.push('boom', { message: 'no mailbox' });
    const { code, stdout, stderr } = await store.q(['work', '--once', '--json']);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const job = { id, queue: 'default', name: 'boom', attempts: 1, maxAttempts: 1 };
    expect(events.map(({ type }) => type)).toEqual(['started', 'job_started', 'job_failed', 'stopping', 'ended']);
    expect(events[2]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      level: 'error',
      message: 'failed for good: no mailbox',
      type: 'job_failed',
      job,
      error: { message: 'no mailbox' },
      elapsedMs: expect.any(Number),
    });
    expect(events[4]).toMatchObject({ level: 'info', ran: 1, exitCode: 0 });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `error: boom #${id} failed for good: no mailbox\n` });
  });

  it('says nothing on stdout with --quiet, and tells the stack of an error with --verbose', async () => {
    await using store = await sqlite.open();
    const id = await store.push('boom', { message: 'no mailbox' });
    const { stdout, stderr } = await store.q(['work', '--once', '--quiet', '--verbose']);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      new RegExp(`^error: boom #${id} failed for good: no mailbox\nError: no mailbox\n    at .*handlers\\.mjs`),
    );
  });

  it('finishes what is in hand at SIGTERM, and exits with 0', async () => {
    await using store = await sqlite.open();
    await store.push('slow', { ms: 800 });
    await store.push('quick');
    const worker = await working(store, []);
    await worker.said('-> slow');
    worker.child.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(same(stdout)).toMatch(/\nStopping: asked to shut down\n {3}done in <n>ms\nRan 1 job\n$/);
    expect(await store.driver.pending()).toBe(1);
  });

  it('puts its job back at a second SIGTERM, and is gone within a second, whatever its handler and its pool do', async () => {
    await using store = await sqlite.open({ rest: 'close: () => new Promise(() => setInterval(() => {}, 1000)),' });
    const id = await store.push('stubborn', { ms: 60_000 }, { maxAttempts: 3 });
    const worker = await working(store, []);
    await worker.said('-> stubborn');
    worker.child.kill('SIGTERM');
    await worker.said('Stopping: asked to shut down');
    worker.child.kill('SIGTERM');
    const sentMs = performance.now();
    const { code, stdout, atMs } = await worker.ended;
    expect(code).toBe(0);
    expect(atMs - sentMs).toBeLessThan(1000);
    expect(stdout).toContain('\n   put back, the worker is leaving\n');
    expect(await store.driver.find(id)).toMatchObject({ state: 'pending', attempts: 1, reservedUntil: null });
  });

  it('leaves at the first SIGINT or SIGQUIT where it has nothing in hand', async () => {
    await using store = await sqlite.open();
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      const worker = await working(store, ['--sleep=60']);
      worker.child.kill(signal);
      const sentMs = performance.now();
      const { code, stdout, atMs } = await worker.ended;
      expect(code).toBe(0);
      expect(stdout).toContain('\nStopping: asked to shut down\nRan 0 jobs\n');
      expect(atMs - sentMs).toBeLessThan(1000);
    }
  });
});

describe('A run of q work', () => {
  it('leaves cleanly at a SIGTERM that comes while the config is loaded', async () => {
    await using store = await sqlite.open();
    store.write({
      'q.config.mjs': `
console.log('loading');
await new Promise((resolve) => setTimeout(resolve, 400));
export default (await import('./rest.mjs')).default;`,
      'rest.mjs': REST,
    });
    await store.push('quick');
    const worker = store.start(['work']);
    await worker.said('loading\n');
    worker.child.kill('SIGTERM');
    const { code, stdout } = await worker.ended;
    expect(code).toBe(0);
    expect(same(stdout)).toBe('loading\nWorker <id> watching default\nStopping: asked to shut down\nRan 0 jobs\n');
  });

  it('ends with 1 when the queue could not be read five times running', async () => {
    await using store = await sqlite.open();
    store.write({
      'rest.mjs': REST,
      'q.config.mjs': `
import config from './rest.mjs';
config.queue.driver.reserve = async () => { throw Object.assign(new AggregateError([new Error('connect ECONNREFUSED')]), { code: 'ECONNREFUSED' }); };
export default config;`,
    });
    const { code, stdout, stderr } = await store.q(['work', '--sleep=0.01']);
    expect(code).toBe(1);
    expect(same(stdout)).toBe(
      'Worker <id> watching default\nStopping: the queue has been unreadable five times running\nRan 0 jobs\n',
    );
    expect(stderr.match(/^error: could not reserve a job: .*$/gm)?.length).toBe(5);
    expect(stderr.trimEnd().split('\n').length).toBe(5);
  });

  it('is not kept by what the config leaves open', async () => {
    await using store = await sqlite.open({ rest: 'close: undefined, ...{ open: setInterval(() => {}, 1000) },' });
    await store.push('quick');
    const worker = store.start(['work', '--once']);
    await worker.said('Ran 1 job');
    const saidMs = performance.now();
    const { code, atMs } = await worker.ended;
    expect(code).toBe(0);
    expect(atMs - saidMs).toBeLessThan(1000);
  });

  it('tells what nobody caught in one line and ends with 1, its job left to the claim, which counts the attempt', async () => {
    await using store = await sqlite.open();
    store.write({
      'handlers.mjs': `
import { defineHandlers } from '@q/core';
export const handlers = defineHandlers({
  late: { handle: () => new Promise(() => setTimeout(() => { throw new Error('too late to catch'); })) },
});`,
    });
    const id = await store.push('late');
    const { code, stderr } = await store.q(['work', '--once']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: uncaught: too late to catch\n' });
    expect(await store.driver.find(id)).toMatchObject({ state: 'reserved', attempts: 1 });
  });

  it.each([
    ['--queue=a\tb', 'error: A queue name may not hold control characters; got "a\\tb"\n'],
    [`--queue=${'x'.repeat(65)}`, /^error: A queue name has to have 1 to 64 characters; got 65: .*\n$/],
  ])('exits 2 with %j, which is no queue', async (flag, error) => {
    await using store = await sqlite.open();
    const { code, stdout, stderr } = await store.q(['work', flag]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(error);
  });

  it('exits 2 with a time limit that the driver cannot keep', async () => {
    await using store = await sqlite.open();
    store.write({
      'rest.mjs': REST,
      'q.config.mjs': `
import config from './rest.mjs';
config.queue.driver.extend = undefined;
export default config;`,
    });
    const { code, stderr } = await store.q(['work', '--timeout=0']);
    const error = 'error: timeout 0 needs a driver that can renew claims (extend); this one cannot\n';
    expect({ code, stderr }).toEqual({ code: 2, stderr: error });
  });

  it('takes from the config what no flag says', async () => {
    await using store = await sqlite.open({
      queue: "queue: 'mail',",
      rest: "worker: { id: 'worker-1', maxJobs: 1, stopWhenEmpty: true, concurrency: 2 },",
    });
    const id = await store.push('quick', {}, { queue: 'mail' });
    await store.push('quick', {}, { queue: 'mail' });
    const { stdout } = await store.q(['work']);
    expect(same(stdout)).toBe(`\
Worker <id> watching mail
-> quick #${id} (attempt 1/1)
   #${id} done in <n>ms
Stopping: ran 1 job
Ran 1 job
`);
    expect((await store.q(['work', '--max-jobs=5'])).stdout).toContain('\nNothing left to do\n');
  });
});

/** The config of these tests, in a file of its own that another config changes. */
const REST = `
import Database from 'better-sqlite3';
import { Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import { handlers } from './handlers.mjs';
export default { queue: new Queue({ driver: new SqliteDriver(new Database('app.db')), handlers }) };
`;
