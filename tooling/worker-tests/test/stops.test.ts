import { isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { faulty } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'uncaughtException', 'unhandledRejection', 'beforeExit', 'exit'];
const listeners = () => SIGNALS.map((name) => process.listenerCount(name));

describe('a stop', () => {
  it('finishes what is in hand and claims nothing more', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.push('a');
    const { worker, told, events } = workerOn(store, { a: () => wait(store, 2_000) });
    const run = worker.run();
    await store.time.advance(500);
    const stopped = worker.stop();
    await store.time.advance(1_500);
    await stopped;
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(1);
    expect(store.rows()).toMatchObject([{ attempts: 0 }]);
    expect(events.slice(-3).map(({ type }) => type)).toEqual(['stopping', 'job_done', 'ended']);
  });

  it('before run() ends that run as soon as it starts, and only that one', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => {} }, { stopWhenEmpty: true });
    await worker.stop();
    expect(await worker.run()).toBe(0);
    expect(told('job_started')).toEqual([]);
    const again = worker.run();
    await store.time.settle();
    expect(await again).toBe(0);
    expect(told('job_done')).toHaveLength(1);
  });

  it('in the tick of run() ends it without a claim', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => {} });
    const run = worker.run();
    await worker.stop();
    expect(await run).toBe(0);
    expect(told('job_started').length).toBeLessThanOrEqual(1);
    expect(store.rows().every(({ reserved_until }) => reserved_until === null)).toBe(true);
  });

  it('three times at once settles three times', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker } = workerOn(store, { a: () => wait(store, 1_000) });
    const run = worker.run();
    await store.time.settle();
    const stops = [worker.stop(), worker.stop({ timeout: 60 }), worker.stop()];
    await store.time.advance(1_000);
    await Promise.all(stops);
    expect(await run).toBe(0);
  });

  it('inside a handler that waits for it settles by its deadline', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    let isStopped = false;
    const { worker } = workerOn(store, {
      a: async () => {
        await worker.stop({ timeout: 2 });
        isStopped = true;
      },
    });
    const run = worker.run();
    await store.time.advance(2_000);
    expect(await run).toBe(0);
    await store.time.settle();
    expect(isStopped).toBe(true);
    expect(store.rows()).toMatchObject([{ id, attempts: 1, reserved_until: null }]);
  });

  it('past its timeout aborts the signal with the reason shutdown and puts the job back, claimable at once', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const seen: unknown[] = [];
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          await new Promise<void>((resolve) => job.signal.addEventListener('abort', () => resolve()));
          seen.push((job.signal.reason as { code: string }).code);
          throw new Error('too late to matter');
        },
      },
      { shutdownTimeout: 1 },
    );
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop();
    await store.time.advance(1_000);
    await stopped;
    expect(await run).toBe(0);
    expect(seen).toEqual(['shutdown']);
    expect(told('job_released')).toMatchObject([{ job: { id }, delay: 0, why: 'shutdown' }]);
    expect(await store.driver.reserve(['default'], 60, 'another')).toMatchObject({ id, attempts: 2, reclaimed: false });
  });

  it('that puts jobs back leaves alone the one whose outcome is being written', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { opened, open } = gate();
    const { driver } = faulty(store.driver, () => null);
    const slow = new Proxy(driver, {
      get: (target, key) =>
        key === 'delete'
          ? async (claim: never) => {
              await opened;
              return target.delete(claim);
            }
          : Reflect.get(target, key),
    });
    const { worker, told } = workerOn(store, { a: () => {} }, { driver: slow, shutdownTimeout: 1 });
    const run = worker.run();
    await store.time.settle();
    void worker.stop();
    await store.time.advance(1_000);
    open();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([id]);
    expect(told('job_released')).toEqual([]);
  });

  it('settles by its deadline when the store never answers, and says what was left', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { driver } = faulty(store.driver, (method) => (method === 'release' ? 'hangs' : null));
    const { worker, told } = workerOn(store, { a: () => new Promise(() => {}) }, { driver });
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop({ timeout: 2 });
    await store.time.advance(2_500);
    let isSettled = false;
    void stopped.then(() => {
      isSettled = true;
    });
    await store.time.advance(500);
    expect(isSettled).toBe(true);
    expect(await run).toBe(0);
    expect(told('job_unrecorded')).toMatchObject([{ job: { id }, outcome: 'released' }]);
  });

  it('settles by its deadline while a reserve never answers', async () => {
    await using store = await openStore();
    const { driver } = faulty(store.driver, (method) => (method === 'reserve' ? 'hangs' : null));
    const { worker } = workerOn(store, {}, { driver });
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop({ timeout: 2 });
    await store.time.advance(3_000);
    await stopped;
    expect(await run).toBe(0);
  });
});

describe('runs', () => {
  it('follow each other on one worker, and refuse to overlap', async () => {
    await using store = await openStore();
    const { worker } = workerOn(store, { a: () => {} });
    const run = worker.run();
    const overlap = await worker.run().catch((error: unknown) => error);
    expect(isQueueError(overlap, 'worker_running')).toBe(true);
    await worker.stop();
    expect(await run).toBe(0);
    await store.push('a');
    const again = worker.run();
    await store.time.settle();
    expect(store.rows()).toEqual([]);
    await worker.stop();
    expect(await again).toBe(0);
  });

  it('take no signals unless asked, and give them back when they end', async () => {
    await using store = await openStore();
    const before = listeners();
    const { worker } = workerOn(store, {});
    const run = worker.run();
    expect(listeners()).toEqual(before);
    await worker.stop();
    await run;
    const one = workerOn(store, {}, { signals: true });
    const two = workerOn(store, {}, { signals: true });
    const runs = [one.worker.run(), two.worker.run()];
    expect(listeners()[0]).toBe((before[0] ?? 0) + 2);
    process.emit('SIGTERM');
    await store.time.settle();
    expect(await Promise.all(runs)).toEqual([0, 0]);
    expect(listeners()).toEqual(before);
  });

  it('are hurried by a second signal', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker } = workerOn(store, { a: () => new Promise(() => {}) }, { signals: true });
    const run = worker.run();
    await store.time.settle();
    process.emit('SIGINT');
    await store.time.settle();
    process.emit('SIGTERM');
    await store.time.settle();
    expect(await run).toBe(0);
    expect(store.rows()).toMatchObject([{ attempts: 1, reserved_until: null }]);
  });
});

describe('reserves that fail', () => {
  const down = { throws: Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }) };

  it('five times in a row end the run with exit code 1, after exactly five calls and growing waits', async () => {
    await using store = await openStore();
    const { driver, calls } = faulty(store.driver, (method) => (method === 'reserve' ? down : null));
    const { worker, told, events } = workerOn(store, {}, { driver, sleep: 2 });
    const callsAt: number[] = [];
    worker.on('reserve_failed', () => callsAt.push(store.time.monotonicMs()));
    const run = worker.run();
    await store.time.advance(60_000);
    expect(await run).toBe(1);
    expect(calls.get('reserve')).toBe(5);
    expect(callsAt).toEqual([0, 2_000, 6_000, 14_000, 30_000]);
    expect(told('stopping')).toEqual([{ type: 'stopping', reason: { why: 'unreadable', failures: 5 } }]);
    expect(events.at(-1)).toEqual({ type: 'ended', ran: 0, exitCode: 1 });
  });

  it('are followed by a look as soon as a wakeup tells that the store is back, but not at once', async () => {
    await using store = await openStore();
    let wake = () => {};
    const { driver, calls } = faulty(store.driver, (method, n) => (method === 'reserve' && n < 3 ? down : null));
    const onPush = async (_: readonly string[], ring: () => void) => {
      wake = ring;
      return { [Symbol.asyncDispose]: async () => {} };
    };
    const { worker, told } = workerOn(
      store,
      { a: () => {} },
      { driver: Object.assign(Object.create(driver), { onPush }), sleep: 300 },
    );
    const failedAt: number[] = [];
    worker.on('reserve_failed', () => failedAt.push(store.time.monotonicMs()));
    const run = worker.run();
    await store.time.advance(100);
    wake();
    await store.time.advance(5_000);
    expect(failedAt).toEqual([0, 1_000]); // the second wait is two seconds and more
    await store.push('a');
    await store.time.advance(60_000);
    expect(calls.get('reserve')).toBe(2); // nobody told
    wake();
    await store.time.settle();
    expect(told('job_done')).toHaveLength(1);
    await worker.stop();
    expect(await run).toBe(0);
  });

  it('three times and then succeed count for nothing', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (method, n) => (method === 'reserve' && n % 4 !== 0 ? down : null));
    const { worker, told } = workerOn(store, { a: () => {} }, { driver });
    const run = worker.run();
    await store.time.advance(100_000);
    await worker.stop();
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(1);
    expect(Math.max(...told('reserve_failed').map(({ failures }) => failures))).toBe(3);
  });

  it('are never counted as failures of a job', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    const { driver } = faulty(store.driver, (method, n) => (n === 1 && method !== 'onPush' ? down : null));
    const { worker, told } = workerOn(store, { a: () => {} }, { driver });
    const run = worker.run();
    await store.time.advance(10_000);
    await worker.stop();
    await run;
    expect(told('job_done')).toHaveLength(1);
    expect(await store.failed()).toEqual([]);
  });

  it('are waited for without end where maxReserveFailures is 0', async () => {
    await using store = await openStore();
    const { driver, calls } = faulty(store.driver, (method) => (method === 'reserve' ? down : null));
    const { worker } = workerOn(store, {}, { driver, maxReserveFailures: 0 });
    const run = worker.run();
    await store.time.advance(1_000_000);
    expect(calls.get('reserve')).toBeGreaterThan(100);
    const stopped = worker.stop(); // cuts the wait short
    await store.time.settle();
    await stopped;
    expect(await run).toBe(0);
  });

  it('because nothing answers are given up after driverTimeout, and what comes later is put back', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { opened, open } = gate();
    const late = new Proxy(store.driver, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (key !== 'reserve') return typeof value === 'function' ? value.bind(target) : value;
        return async (...args: Parameters<typeof target.reserve>) => {
          const job = await target.reserve(...args);
          await opened;
          return job;
        };
      },
    });
    const { worker, told } = workerOn(
      store,
      { a: () => {} },
      { driver: late, driverTimeout: 4, maxReserveFailures: 1 },
    );
    const run = worker.run();
    await store.time.advance(4_000);
    expect(await run).toBe(1);
    expect(told('reserve_failed').map(({ error }) => (error as { code: string }).code)).toEqual(['call_timeout']);
    open();
    await store.time.settle();
    expect(told('reserve_late').map(({ jobs }) => jobs.map((each) => each.id))).toEqual([[id]]);
    expect(store.rows()).toMatchObject([{ id, reserved_until: null }]);
  });

  it('while jobs are in hand leave these to finish', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (method, n) => (method === 'reserveMany' && n > 1 ? down : null));
    const single = faulty(driver, (method) => (method === 'reserve' ? down : null));
    const { worker, told } = workerOn(
      store,
      { a: () => wait(store, 60_000) },
      { driver: single.driver, concurrency: 2 },
    );
    const run = worker.run();
    await store.time.advance(60_000);
    expect(await run).toBe(1);
    expect(told('job_done')).toHaveLength(1);
  });
});
