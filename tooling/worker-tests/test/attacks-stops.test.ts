import { describe, expect, it } from 'vitest';
import { faulty, replacing, without } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));
const forever = () => new Promise(() => {});

describe('a stop while the run starts', () => {
  it('by a listener of started ends that run, not the next', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => {} }, { stopWhenEmpty: true });
    const stopAtOnce = () => void worker.stop();
    worker.on('started', stopAtOnce);
    expect(await worker.run()).toBe(0);
    expect(told('stopping')).toMatchObject([{ reason: { why: 'asked' } }]);
    expect(told('job_started')).toEqual([]);
    worker.off('started', stopAtOnce);
    const again = worker.run();
    await store.time.settle();
    expect(await again).toBe(0);
    expect(told('job_done')).toHaveLength(1);
  });

  it('by a listener of started resolves when the run has ended', async () => {
    await using store = await openStore();
    const { worker, told } = workerOn(store, {});
    let endedBy = -1;
    worker.on('started', async () => {
      await worker.stop();
      endedBy = told('ended').length;
    });
    expect(await worker.run()).toBe(0);
    await store.time.settle();
    expect(endedBy).toBe(1);
  });

  it('does not let a listener of started begin a second run beside it', async () => {
    await using store = await openStore();
    const { worker } = workerOn(store, {}, { stopWhenEmpty: true });
    const refusals: unknown[] = [];
    worker.on('started', () => worker.run().catch((error: { code: string }) => refusals.push(error.code)));
    expect(await worker.run()).toBe(0);
    expect(refusals).toEqual(['worker_running']);
  });
});

describe('a stop between two claims', () => {
  it('claims nothing more on a driver without batches, however many slots are free', async () => {
    await using store = await openStore();
    for (let n = 0; n < 10; n += 1) await store.push('a');
    const bare = without(store.driver, ['pushMany', 'reserveMany', 'deleteMany', 'extendMany', 'onPush']);
    const { driver, calls } = faulty(bare, (method, n) => {
      if (method === 'reserve' && n === 3) void worker.stop();
      return null;
    });
    const { worker, told } = workerOn(store, { a: () => wait(store, 1_000) }, { driver, concurrency: 10 });
    const run = worker.run();
    await store.time.advance(1_000);
    expect(await run).toBe(0);
    expect(calls.get('reserve')).toBe(3);
    expect(told('job_done')).toHaveLength(3);
    expect(store.rows().filter(({ attempts }) => attempts > 0)).toEqual([]);
  });
});

describe('a claim that arrives while the worker leaves', () => {
  for (const concurrency of [1, 3]) {
    it(`is put back and never run, at a concurrency of ${concurrency}`, async () => {
      await using store = await openStore();
      const ids = [await store.push('a'), await store.push('a')].slice(0, Math.min(concurrency, 2));
      const late = async (answer: Promise<unknown>) => {
        await answer;
        await wait(store, 1_300);
        return answer;
      };
      const slow = replacing(store.driver, {
        reserve: (real, ...args) => late(real(...args)),
        reserveMany: (real, ...args) => late(real(...args)),
      });
      const { worker, told } = workerOn(store, { a: () => {} }, { driver: slow, concurrency });
      const run = worker.run();
      await store.time.settle();
      const stopped = worker.stop({ timeout: 1 });
      await store.time.advance(2_000);
      await stopped;
      expect(await run).toBe(0);
      expect(told('job_started')).toEqual([]);
      expect(told('reserve_late').map(({ jobs }) => jobs.map(({ id }) => id))).toEqual([ids]);
      expect(store.rows().every(({ reserved_until }) => reserved_until === null)).toBe(true);
    });
  }
});

describe('claims made one by one', () => {
  it('are run as they come: a job does not wait for the reserve after it', async () => {
    await using store = await openStore();
    await store.push('a');
    const bare = without(store.driver, ['pushMany', 'reserveMany', 'deleteMany', 'extendMany', 'onPush']);
    const { driver } = faulty(bare, (method, n) => (method === 'reserve' && n === 2 ? 'hangs' : null));
    const { worker, told } = workerOn(store, { a: () => wait(store, 20_000) }, { driver, concurrency: 4, lease: 6 });
    const other = workerOn(store, { a: () => {} }, { id: 'other', lease: 6 });
    const runs = [worker.run(), other.worker.run()];
    await store.time.settle();
    expect(told('job_started')).toHaveLength(1);
    await store.time.advance(20_000);
    expect([told('job_done').length, other.told('job_started').length]).toEqual([1, 0]);
    await Promise.all([worker.stop({ timeout: 1 }), other.worker.stop(), store.time.advance(2_000)]);
    await Promise.all(runs);
  });
});

describe('nothing is left of a run that was hurried', () => {
  for (const method of ['release', 'reserve', 'pending', 'onPush', 'extendMany', 'delete']) {
    it(`no timer, where ${method} never answers`, async () => {
      await using store = await openStore();
      await store.push('a');
      if (method === 'delete') await store.push('a');
      const { driver } = faulty(store.driver, (name) => (name === method ? 'hangs' : null));
      const { worker } = workerOn(
        store,
        { a: () => (method === 'release' || method === 'extendMany' ? forever() : undefined) },
        { driver, stopWhenEmpty: method === 'pending' },
      );
      const run = worker.run();
      await store.time.advance(21_000);
      const stopped = worker.stop({ timeout: 1 });
      await store.time.advance(1_800);
      await Promise.all([stopped, run]);
      expect(store.time.timers).toBe(0);
    });
  }

  it('no timer of a handler that goes on', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker } = workerOn(store, { a: forever }, { timeout: 300 });
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop({ timeout: 1 });
    await store.time.advance(1_000);
    await Promise.all([stopped, run]);
    expect(store.time.timers).toBe(0);
  });

  it('no timer of a renewal that was under way when the last job ended', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (name) => (name === 'extendMany' ? 'hangs' : null));
    const { worker } = workerOn(store, { a: () => wait(store, 25_000) }, { driver, lease: 60, stopWhenEmpty: true });
    const run = worker.run();
    await store.time.advance(25_000);
    expect(await run).toBe(0);
    expect(store.time.timers).toBe(0);
    await store.push('a');
    const one = worker.runNext();
    await store.time.advance(25_000);
    expect(await one).toBe(true);
    expect(store.time.timers).toBe(0);
  });

  for (const end of ['acts', 'fails'] as const) {
    for (const [what, method, handle] of [
      ['deletion', 'delete', () => {}],
      ['turnover', 'deleteAndReserve', () => {}],
      ['retry', 'release', () => Promise.reject(new Error('boom'))],
      ['putting back', 'release', forever],
    ] as const) {
      it(`no news of a ${what} that ${end} after all: it was reported as not recorded`, async () => {
        await using store = await openStore();
        const id = await store.push('a');
        const { opened, open } = gate();
        const slow = replacing(method === 'delete' ? without(store.driver, ['deleteAndReserve']) : store.driver, {
          [method]: async (real, ...args) => {
            await opened;
            if (end === 'fails') throw new Error('the connection is gone');
            return real(...args);
          },
        });
        const { worker, events } = workerOn(store, { a: handle }, { driver: slow });
        const run = worker.run();
        await store.time.settle();
        const stopped = worker.stop({ timeout: 1 });
        await store.time.advance(1_800);
        await Promise.all([stopped, run]);
        open();
        await store.time.advance(60_000);
        const ofJob = events.filter((event) => 'job' in event && event.job.id === id && event.type !== 'job_started');
        expect(ofJob.map(({ type }) => type)).toEqual(['job_unrecorded']);
        expect(events.at(-1)?.type).toBe('ended');
      });
    }
  }

  it('no news of a count of what is left that comes after all', async () => {
    await using store = await openStore();
    const { opened, open } = gate();
    const slow = replacing(store.driver, {
      pending: async (real, ...args) => {
        await opened;
        return real(...args);
      },
    });
    const { worker, events } = workerOn(store, {}, { driver: slow, stopWhenEmpty: true });
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop({ timeout: 1 });
    await store.time.advance(1_800);
    await Promise.all([stopped, run]);
    open();
    await store.time.settle();
    expect(events.map(({ type }) => type)).toEqual(['started', 'stopping', 'ended']);
  });

  it('no news of wakeups that could not be set up until then', async () => {
    await using store = await openStore();
    const { opened, open } = gate();
    const late = replacing(store.driver, {
      onPush: async () => {
        await opened;
        throw new Error('no LISTEN');
      },
    });
    const { worker, events } = workerOn(store, {}, { driver: late });
    const run = worker.run();
    await store.time.settle();
    const stopped = worker.stop();
    await store.time.advance(1_000);
    await Promise.all([stopped, run]);
    open();
    await store.time.settle();
    expect(events.map(({ type }) => type)).toEqual(['started', 'stopping', 'ended']);
  });
});

describe('maxTime', () => {
  it('ends a run whose reserves fail, in the middle of the wait for the next', async () => {
    await using store = await openStore();
    const { driver } = faulty(store.driver, (method) => (method === 'reserve' ? { throws: new Error('down') } : null));
    const { worker, told } = workerOn(store, {}, { driver, sleep: 60, maxTime: 100 });
    const run = worker.run();
    let endedMs = 0;
    void run.then(() => {
      endedMs = store.time.monotonicMs();
    });
    await store.time.advance(1_000_000);
    expect(await run).toBe(0);
    expect(told('stopping')).toMatchObject([{ reason: { why: 'max_time' } }]);
    expect(endedMs).toBe(100_000);
  });
});

describe('stopWhenEmpty', () => {
  it('goes on while any of its queues has something left, whatever a reserve says', async () => {
    await using store = await openStore();
    await store.push('a', { queue: 'two' });
    const blind = replacing(store.driver, {
      reserve: async (real, ...args) => (store.time.monotonicMs() < 3_000 ? null : real(...args)),
    });
    const { worker, told } = workerOn(
      store,
      { a: () => {} },
      { driver: blind, queues: ['one', 'two'], stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.advance(5_000);
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(1);
  });

  it('gives up, with 1, where reserves are answered and the count of what is left never is', async () => {
    await using store = await openStore();
    const { driver, calls } = faulty(store.driver, (name) => (name === 'pending' ? { throws: new Error('no') } : null));
    const { worker } = workerOn(store, {}, { driver, stopWhenEmpty: true });
    const run = worker.run();
    let exitCode: number | null = null;
    void run.then((code) => {
      exitCode = code;
    });
    await store.time.advance(100_000);
    expect(exitCode).toBe(1);
    expect(calls.get('pending')).toBe(5);
  });
});
