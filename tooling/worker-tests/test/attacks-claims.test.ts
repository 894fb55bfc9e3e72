import { Queue, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { type Fault, faulty, replacing } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));
const names = (events: readonly { readonly job: { readonly name: string } }[]) => events.map(({ job }) => job.name);

describe('errors of the store', () => {
  for (const code of ['ER_LOCK_DEADLOCK', '40P01', 'SQLITE_BUSY', '25006', 'READONLY']) {
    it(`are never booked on a job: ${code} at the first claim and at the first outcome`, async () => {
      await using store = await openStore();
      await store.push('a', { maxAttempts: 1 });
      const error: Fault = { throws: Object.assign(new Error(code), { code }) };
      const { driver } = faulty(store.driver, (method, n) =>
        n === 1 && (method === 'reserve' || method === 'delete') ? error : null,
      );
      const { worker, told } = workerOn(store, { a: () => {} }, { driver });
      const run = worker.run();
      await store.time.advance(10_000);
      await worker.stop();
      expect(await run).toBe(0);
      expect([told('job_started').length, told('job_done').length]).toEqual([1, 1]);
      expect([store.rows(), await store.failed()]).toEqual([[], []]);
    });
  }

  for (const method of ['pending', 'onPush', 'reserveMany', 'extendMany', 'deleteMany']) {
    it(`that never come, because ${method} does not answer, hold nothing up for longer than driverTimeout`, async () => {
      await using store = await openStore();
      for (let n = 0; n < 4; n += 1) await store.push('a');
      const { driver } = faulty(store.driver, (name, n) => (name === method && n === 1 ? 'hangs' : null));
      const { worker, told } = workerOn(
        store,
        { a: () => wait(store, 25_000) },
        { driver, concurrency: 2, driverTimeout: 4, stopWhenEmpty: true },
      );
      const run = worker.run();
      await store.time.advance(70_000);
      expect(await run).toBe(0);
      expect(told('job_done')).toHaveLength(4);
      expect(told('job_started')).toHaveLength(4);
      expect(store.time.timers).toBe(0);
    });
  }
});

describe('a renewal under way', () => {
  /** A worker whose renewals are answered when the test says so, by what the store says then. */
  async function renewingSlowly(handle: Parameters<typeof workerOn>[1]['a']) {
    const store = await openStore();
    const { opened, open } = gate();
    const slow = replacing(store.driver, {
      extendMany: async (real, ...args) => {
        await opened;
        return real(...args);
      },
    });
    const one = workerOn(store, { a: handle ?? (() => {}) }, { driver: slow, lease: 30, maxJobs: 1 });
    return { store, open, ...one };
  }

  it('when the outcome is written finds no claim, and nothing is said of it', async () => {
    let signal: AbortSignal | null = null;
    const { store, open, worker, events } = await renewingSlowly(async (_, job) => {
      signal = job.signal;
      await wait(store, 12_000);
    });
    await using _ = store;
    await store.push('a');
    const run = worker.run();
    await store.time.advance(12_000);
    open();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(events.map(({ type }) => type)).toEqual(['started', 'job_started', 'job_done', 'stopping', 'ended']);
    expect(signal).toMatchObject({ aborted: false });
  });

  it('when the handler completes its job aborts nothing', async () => {
    let reason: unknown;
    const { store, open, worker, told } = await renewingSlowly(async (_, job) => {
      await wait(store, 12_000);
      store.db.exec('BEGIN');
      await job.complete(store.db);
      store.db.exec('COMMIT');
      open();
      await wait(store, 100);
      reason = job.signal.reason;
    });
    await using _ = store;
    await store.push('a');
    const run = worker.run();
    await store.time.advance(13_000);
    expect(await run).toBe(0);
    expect(reason).toBeUndefined();
    expect(told('job_done')).toHaveLength(1);
  });
});

describe('a claim', () => {
  it('that is gone is not asked about again', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { driver, calls } = faulty(store.driver, () => null);
    const { worker, told } = workerOn(
      store,
      {
        a: async () => {
          store.db.prepare('UPDATE queue_jobs SET attempts = 2 WHERE id = ?').run(id); // taken over
          await wait(store, 100_000);
        },
      },
      { driver, lease: 30 },
    );
    const run = worker.runNext();
    await store.time.advance(100_000);
    await run;
    expect(calls.get('extendMany')).toBe(1);
    expect(told('claim_lost')).toHaveLength(1);
  });

  it('that runs out while its job is being completed aborts nothing: the row is the transaction’s', async () => {
    await using store = await openStore();
    await store.push('a');
    let reason: unknown;
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          store.db.exec('BEGIN');
          await job.complete(store.db);
          await wait(store, 100_000);
          reason = job.signal.reason;
          store.db.exec('COMMIT');
        },
      },
      { lease: 30 },
    );
    const run = worker.runNext();
    await store.time.advance(100_000);
    await run;
    expect(reason).toBeUndefined();
    expect(told('job_done')).toHaveLength(1);
  });
});

describe('the order of queues', () => {
  it('holds for every claim, whatever came in between and however many slots there are', async () => {
    await using store = await openStore();
    for (let n = 0; n < 4; n += 1) await store.push(`low ${n}`, { queue: 'low' });
    const handle = () => wait(store, 100);
    const all = Object.fromEntries(
      ['low 0', 'low 1', 'low 2', 'low 3', 'high 0', 'high 1', 'high 2'].map((name) => [name, handle]),
    );
    const { worker, told } = workerOn(store, all, { queues: ['high', 'low'], concurrency: 2, stopWhenEmpty: true });
    const run = worker.run();
    await store.time.advance(50);
    for (let n = 0; n < 3; n += 1) await store.push(`high ${n}`, { queue: 'high' });
    await store.time.advance(1_000);
    expect(await run).toBe(0);
    expect(names(told('job_started'))).toEqual(['low 0', 'low 1', 'high 0', 'high 1', 'high 2', 'low 2', 'low 3']);
  });

  it('leaves nothing that is due to wait for a wakeup: one that rings during a look is not lost', async () => {
    await using store = await openStore();
    let isFirst = true;
    const late = replacing(store.driver, {
      reserve: async (real, ...args) => {
        const job = await real(...args);
        if (isFirst) {
          isFirst = false;
          await store.push('a'); // after the look, before its answer
          await store.time.settle();
        }
        return job;
      },
    });
    const { worker, told } = workerOn(store, { a: () => {} }, { driver: late, sleep: 3_600 });
    const run = worker.run();
    await store.time.settle();
    await store.time.settle();
    expect(told('job_done')).toHaveLength(1);
    await worker.stop();
    await run;
  });
});

describe('a job pushed before the worker listens', () => {
  it('does not wait for the next look', async () => {
    await using store = await openStore();
    const { opened, open } = gate();
    const slow = replacing(store.driver, {
      onPush: async (real, ...args) => {
        await opened;
        return real(...args);
      },
    });
    const { worker, told } = workerOn(store, { a: () => {} }, { driver: slow, sleep: 3_600 });
    const run = worker.run();
    await store.time.settle();
    await store.push('a');
    await store.time.settle();
    expect(told('job_done')).toEqual([]);
    open();
    await store.time.settle();
    expect(told('job_done')).toHaveLength(1);
    await worker.stop();
    await run;
  });
});

describe('jobs of dead workers', () => {
  it('in every queue come back, by themselves, within the lease and a second', async () => {
    await using store = await openStore();
    const queues = ['one', 'two', 'three'];
    for (const queue of queues) await store.push('a', { queue });
    for (const queue of queues) await store.driver.reserve([queue], 60, 'the dead');
    const { worker, told } = workerOn(store, { a: () => {} }, { queues });
    const run = worker.run();
    await store.time.advance(61_000);
    expect(told('job_done').map(({ job }) => job.queue)).toEqual(queues);
    await worker.stop();
    await run;
  });

  it('block no queue: the one after a job whose last attempt died runs within the lease and two seconds', async () => {
    await using store = await openStore();
    await store.push('dies', { maxAttempts: 1 });
    await store.push('next');
    await store.driver.reserve(['default'], 60, 'the dead');
    const { worker, told } = workerOn(store, { next: () => {} }, { concurrency: 1 });
    const run = worker.run();
    await store.time.advance(62_000);
    expect(names(told('job_done'))).toEqual(['next']);
    expect(names(told('job_failed'))).toEqual(['dies']);
    await worker.stop();
    await run;
  });

  it('count for maxJobs when they run, not when they are failed unrun', async () => {
    await using store = await openStore();
    await store.push('poison', { maxAttempts: 1 });
    await store.driver.reserve(['default'], 0, 'the dead');
    for (const name of ['a', 'b']) await store.push(name);
    const { worker, told } = workerOn(store, { a: () => {}, b: () => {} }, { maxJobs: 1, concurrency: 3 });
    const run = worker.run();
    await store.time.advance(2_000);
    expect(await run).toBe(0);
    expect(names(told('job_failed'))).toEqual(['poison']);
    expect(names(told('job_done'))).toEqual(['a']);
    expect(store.rows()).toMatchObject([{ name: 'b', attempts: 0 }]);
  });

  it('that wait to run alone are among the jobs that maxJobs allows', async () => {
    await using store = await openStore();
    await store.push('long');
    const { worker, told } = workerOn(
      store,
      { long: () => wait(store, 10_000), reclaimed: () => {}, other: () => {} },
      { maxJobs: 2, concurrency: 4 },
    );
    const run = worker.run();
    await store.time.settle();
    await store.push('reclaimed');
    await store.driver.reserve(['default'], 0, 'the dead');
    await store.time.advance(2_000);
    await store.push('other');
    await store.time.advance(10_000);
    expect(await run).toBe(0);
    expect(names(told('job_started'))).toEqual(['long', 'reclaimed']);
    expect(store.rows()).toMatchObject([{ name: 'other', attempts: 0 }]);
  });

  it('that wait to run alone are run before a stop is over, and put back by one in a hurry', async () => {
    for (const timeout of [0, 1]) {
      await using store = await openStore();
      await store.push('long');
      const { worker, told } = workerOn(
        store,
        { long: () => wait(store, 10_000), reclaimed: () => {} },
        { concurrency: 4 },
      );
      const run = worker.run();
      await store.time.settle();
      await store.push('reclaimed');
      await store.driver.reserve(['default'], 0, 'the dead');
      await store.time.advance(2_000);
      const stopped = worker.stop({ timeout });
      await store.time.advance(10_000);
      await stopped;
      expect(await run).toBe(0);
      expect(names(told('job_started'))).toEqual(timeout === 0 ? ['long', 'reclaimed'] : ['long']);
      expect(names(told('job_released'))).toEqual(timeout === 0 ? [] : ['long', 'reclaimed']);
      expect(store.rows().every(({ reserved_until }) => reserved_until === null)).toBe(true);
    }
  });
});

describe('a handler that heeds its signal', () => {
  it('past the time limit is retried without delay where the backoff is 0, and the two never overlap', async () => {
    await using store = await openStore();
    await store.push('a');
    const seen: [string, number][] = [];
    const { worker } = workerOn(
      store,
      {
        a: async (_, job) => {
          seen.push(['enter', store.time.monotonicMs()]);
          await new Promise<void>((resolve) => job.signal.addEventListener('abort', () => resolve()));
          seen.push(['leave', store.time.monotonicMs()]);
          throw job.signal.reason;
        },
      },
      { timeout: 0.3, backoff: 0, maxJobs: 3 },
    );
    const run = worker.run();
    await store.time.advance(5_000);
    expect(await run).toBe(0);
    expect(seen).toEqual([
      ['enter', 0],
      ['leave', 300],
      ['enter', 300],
      ['leave', 600],
      ['enter', 600],
      ['leave', 900],
    ]);
    expect(await store.failed()).toHaveLength(1);
  });
});

describe('jobs that fail together', () => {
  it('come back apart where the Queue has jitter, never before their backoff', async () => {
    await using store = await openStore();
    const queue = new Queue({
      driver: store.driver,
      handlers: {
        a: {
          handle: () => {
            throw new Error('x');
          },
        },
      },
      backoff: 60,
      jitter: 0.2,
    });
    for (let n = 0; n < 300; n += 1) await store.push('a');
    const worker = new Worker({ queue, clock: store.time, concurrency: 50, maxJobs: 300 });
    const delays: number[] = [];
    worker.on('job_retried', ({ delay }) => delays.push(delay));
    const run = worker.run();
    await store.time.advance(1_000);
    expect(await run).toBe(0);
    expect(delays).toHaveLength(300);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(60);
    expect(Math.max(...delays)).toBeLessThanOrEqual(72);
    expect(new Set(delays).size).toBeGreaterThanOrEqual(8);
  });
});

describe('times of a hundred years', () => {
  it('neither fire at once nor print a warning, on the clock of the process', async () => {
    await using store = await openStore();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const long = 100 * 365 * 86_400;
    let looks = 0;
    const { driver } = faulty(store.driver, () => {
      looks += 1;
      return null;
    });
    const worker = new Worker({
      queue: { driver, handlers: { a: { handle: () => {} } }, backoff: () => 1 },
      sleep: long,
      timeout: long,
      lease: long,
      maxTime: long,
      shutdownTimeout: long,
      driverTimeout: long,
    });
    await store.push('a');
    const run = worker.run();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await worker.stop();
    expect(await run).toBe(0);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(looks).toBeLessThan(10);
  });
});
