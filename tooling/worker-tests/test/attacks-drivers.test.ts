import { type Claim, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { replacing, without } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

const BATCHES = ['pushMany', 'reserveMany', 'deleteMany', 'extendMany'];

describe('a driver that answers a reserve oddly', () => {
  it('with undefined has nothing due', async () => {
    await using store = await openStore();
    const driver = replacing(store.driver, { reserve: async () => undefined });
    const { worker, told } = workerOn(store, {}, { driver, stopWhenEmpty: true });
    expect(await worker.runNext()).toBe(false);
    expect(await worker.run()).toBe(0);
    expect(told('empty')).toHaveLength(1);
  });

  for (const [what, answer] of [
    ['a list with a hole', [null]],
    ['no list', { job: 1 }],
    ['undefined', undefined],
    ['a list of numbers', [1, 2]],
  ] as const) {
    it(`with ${what} where a batch was asked for is a reserve that failed`, async () => {
      await using store = await openStore();
      const driver = replacing(store.driver, { reserveMany: async () => answer });
      const { worker, told } = workerOn(store, {}, { driver, concurrency: 2 });
      const run = worker.run();
      await store.time.advance(60_000);
      expect(await run).toBe(1);
      expect(told('reserve_failed')).toHaveLength(5);
      expect(store.time.timers).toBe(0);
    });
  }

  it('by rejecting with undefined, or throwing before there is a promise, is a reserve that failed', async () => {
    for (const reserve of [
      () => Promise.reject(undefined),
      () => {
        throw null;
      },
    ]) {
      await using store = await openStore();
      const { worker, told } = workerOn(store, {}, { driver: replacing(store.driver, { reserve }) });
      const run = worker.run();
      await store.time.advance(60_000);
      expect(await run).toBe(1);
      expect(told('reserve_failed')).toHaveLength(5);
    }
  });

  it('with more jobs than were asked for has the surplus put back, and no slot is made for it', async () => {
    await using store = await openStore();
    for (let n = 0; n < 5; n += 1) await store.push('a');
    const driver = replacing(store.driver, {
      reserveMany: (real, queues, limit: number, ...rest) => real(queues, (limit + 1) as never, ...rest),
    });
    let most = 0;
    let running = 0;
    const { worker, told } = workerOn(
      store,
      {
        a: async () => {
          running += 1;
          most = Math.max(most, running);
          await wait(store, 100);
          running -= 1;
        },
      },
      { driver, concurrency: 2, stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.advance(10_000);
    expect(await run).toBe(0);
    expect(most).toBe(2);
    expect(told('job_done')).toHaveLength(5);
    expect(await store.failed()).toEqual([]);
  });

  it('never more jobs than maxJobs allows, however many a batch holds', async () => {
    await using store = await openStore();
    for (let n = 0; n < 9; n += 1) await store.push('a');
    const driver = replacing(store.driver, {
      reserveMany: (real, queues, _: number, ...rest) => real(queues, 9 as never, ...rest),
    });
    const { worker, told } = workerOn(store, { a: () => {} }, { driver, concurrency: 3, maxJobs: 3 });
    const run = worker.run();
    await store.time.advance(1_000);
    expect(await run).toBe(0);
    expect(told('job_started')).toHaveLength(3);
    expect(store.rows().filter(({ reserved_until }) => reserved_until !== null)).toEqual([]);
  });

  it('late and with undefined harms nobody', async () => {
    for (const concurrency of [1, 2]) {
      await using store = await openStore();
      const { opened, open } = gate();
      const late = async () => {
        await opened;
        return undefined;
      };
      const driver = replacing(store.driver, { reserve: late, reserveMany: late });
      const { worker, told } = workerOn(store, {}, { driver, concurrency, driverTimeout: 4, maxReserveFailures: 1 });
      const run = worker.run();
      await store.time.advance(4_000);
      expect(await run).toBe(1);
      open();
      await store.time.settle();
      expect(told('reserve_late')).toEqual([]);
    }
  });

  it('later than the lease is given up: the claim is put back, not run, since it may be another worker’s', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { opened, open } = gate();
    let calls = 0;
    const driver = replacing(store.driver, {
      reserve: async (real, ...args) => {
        calls += 1;
        const isFirst = calls === 1;
        const job = await real(...args);
        if (isFirst) await opened;
        return job;
      },
    });
    const { worker, told } = workerOn(store, { a: () => wait(store, 10_000) }, { driver, lease: 5 });
    const run = worker.run();
    await store.time.advance(8_000);
    open();
    await store.time.advance(10_000);
    expect(told('reserve_late')).toMatchObject([{ jobs: [{ id, attempts: 1 }] }]);
    expect(told('job_done').map(({ job }) => job.attempts)).toEqual([2]);
    expect(told('job_started')).toHaveLength(1);
    await worker.stop();
    await run;
  });

  it('late, but within the lease, has the claim renewed before it ends', async () => {
    await using store = await openStore();
    await store.push('a');
    const driver = replacing(store.driver, {
      reserve: async (real, ...args) => {
        const job = await real(...args);
        if (job !== null) await wait(store, 8_000);
        return job;
      },
    });
    const aborted: unknown[] = [];
    const { worker, told } = workerOn(
      store,
      {
        a: (_, job) => {
          job.signal.addEventListener('abort', () => aborted.push(job.signal.reason));
          return wait(store, 20_000);
        },
      },
      { driver, lease: 9 },
    );
    const run = worker.runNext();
    await store.time.advance(28_000);
    expect(await run).toBe(true);
    expect(aborted).toEqual([]);
    expect(told('job_done')).toHaveLength(1);
  });
});

describe('a driver that answers about claims oddly', () => {
  it('with copies of the lost ones is understood', async () => {
    await using store = await openStore();
    const ids = [await store.push('a'), await store.push('a')];
    const copy = ({ id, attempts, handle }: Claim) => ({ id, attempts, handle });
    const driver = replacing(store.driver, {
      deleteMany: async (real, claims) => ((await real(claims)) as Claim[]).map(copy),
      extendMany: async (real, claims, seconds) => ((await real(claims, seconds)) as Claim[]).map(copy),
    });
    const reasons: unknown[] = [];
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          job.signal.addEventListener('abort', () =>
            reasons.push([job.id, (job.signal.reason as { code: string }).code]),
          );
          if (job.id === ids[0]) {
            store.db.prepare('UPDATE queue_jobs SET attempts = 2 WHERE id = ?').run(job.id); // taken over
          }
          await wait(store, 25_000);
        },
      },
      { driver, concurrency: 2 },
    );
    const run = worker.run();
    await store.time.advance(25_000);
    expect(reasons).toEqual([[ids[0], 'claim_lost']]);
    expect(told('claim_lost').map(({ job }) => job.id)).toEqual([ids[0]]);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([ids[1]]);
    await worker.stop();
    await run;
  });

  it('with undefined where a list was to come is one that failed, and each claim is asked about alone', async () => {
    await using store = await openStore();
    for (let n = 0; n < 2; n += 1) await store.push('a');
    const driver = replacing(store.driver, {
      deleteMany: async () => undefined,
      extendMany: async () => undefined,
    });
    const { worker, told } = workerOn(store, { a: () => wait(store, 25_000) }, { driver, concurrency: 2 });
    const run = worker.run();
    await store.time.advance(26_000);
    expect(told('renew_failed')).toHaveLength(1);
    expect(told('job_done')).toHaveLength(2);
    expect(store.rows()).toEqual([]);
    await worker.stop();
    await run;
  });

  it('with a subscription that cannot be ended still lets the run end', async () => {
    for (const answer of [undefined, {}, { [Symbol.asyncDispose]: () => Promise.reject(new Error('gone')) }, 'hangs']) {
      await using store = await openStore();
      const driver = replacing(store.driver, {
        onPush: async () => (answer === 'hangs' ? { [Symbol.asyncDispose]: () => new Promise(() => {}) } : answer),
      });
      const { worker } = workerOn(store, {}, { driver, stopWhenEmpty: true });
      const run = worker.run();
      await store.time.advance(500);
      expect(await run).toBe(0);
      expect(store.time.timers).toBe(0);
    }
  });

  it('wakes for nothing, without end, and timers still fire', async () => {
    await using store = await openStore();
    let calls = 0;
    let wake = () => {};
    const driver = replacing(store.driver, {
      onPush: async (_real, _queues, ring: () => void) => {
        wake = ring;
        return { [Symbol.asyncDispose]: async () => {} };
      },
      reserve: async () => {
        calls += 1;
        if (calls > 200_000) throw new Error('the event loop is starved');
        wake();
        return null;
      },
    });
    const { worker } = workerOn(store, {}, { driver });
    const run = worker.run();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await worker.stop();
    expect(await run).toBe(0);
    expect(calls).toBeLessThan(200_000);
  });
});

describe('a driver without some ability', () => {
  const abilities: Readonly<Record<string, readonly string[]>> = {
    wakeups: ['onPush'],
    'renewals in batches': ['extendMany'],
    leases: ['extend', 'extendMany'],
    batches: ['pushMany', 'reserveMany', 'deleteMany'],
    'any batch': ['pushMany', 'reserveMany', 'deleteMany', 'extendMany'],
    'anything but the six methods': [...BATCHES, 'extend', 'onPush', 'within', 'pushSync', 'find', 'findFailed'],
  };
  for (const [what, methods] of Object.entries(abilities)) {
    it(`has its jobs run, kept and ended all the same: ${what}`, async () => {
      await using store = await openStore();
      for (const name of ['long', 'ok', 'bad', 'again', 'ok']) await store.push(name, { maxAttempts: 1 });
      const { worker, told } = workerOn(
        store,
        {
          long: () => wait(store, 90_000),
          ok: () => wait(store, 10),
          bad: () => Promise.reject(new Error('boom')),
          again: (_, job) => (job.attempts < 3 ? job.release(0) : undefined),
        },
        { driver: without(store.driver, methods), concurrency: 3, stopWhenEmpty: true, lease: 20, timeout: 100 },
      );
      const run = worker.run();
      await store.time.advance(100_000);
      expect(await run).toBe(0);
      expect(told('job_done')).toHaveLength(4);
      expect(told('job_failed')).toHaveLength(1);
      expect(told('claim_lost')).toEqual([]);
      expect(store.rows()).toEqual([]);
      expect(store.time.timers).toBe(0);
    });
  }

  it('to renew in batches has each claim renewed for itself: one that hangs costs no other', async () => {
    await using store = await openStore();
    for (const name of ['stuck', 'a', 'b']) await store.push(name);
    const driver = replacing(without(store.driver, ['extendMany']), {
      extend: (real, claim: Claim, ...rest) => (claim.id === 1 ? new Promise(() => {}) : real(claim as never, ...rest)),
    });
    const aborted: string[] = [];
    const handle = async (_: unknown, job: { readonly name: string; readonly signal: AbortSignal }) => {
      job.signal.addEventListener('abort', () => aborted.push(job.name));
      await wait(store, 70_000);
    };
    const { worker, told } = workerOn(
      store,
      { stuck: handle, a: handle, b: handle },
      { driver, concurrency: 3, lease: 30 },
    );
    const run = worker.run();
    await store.time.advance(70_000);
    expect(aborted).toEqual(['stuck']);
    expect(told('renew_failed').every(({ jobs }) => jobs.length === 1 && jobs[0]?.name === 'stuck')).toBe(true);
    expect(told('job_done')).toHaveLength(3);
    await worker.stop();
    await run;
  });

  it('to complete in batches has what is ready together completed together', async () => {
    await using store = await openStore();
    for (let n = 0; n < 4; n += 1) await store.push('a');
    const driver = replacing(without(store.driver, BATCHES), {
      delete: async (real, ...args) => {
        await wait(store, 100);
        return real(...args);
      },
    });
    const { worker, told } = workerOn(store, { a: () => wait(store, 1_000) }, { driver, concurrency: 4 });
    const run = worker.run();
    await store.time.advance(1_100);
    expect(told('job_done')).toHaveLength(4);
    await worker.stop();
    await run;
  });
});

describe('a foreign source of work', () => {
  const backoffs: Readonly<Record<string, [() => unknown, number]>> = {
    'gives NaN': [() => Number.NaN, 10],
    'gives nothing': [() => undefined, 10],
    'is below zero': [() => -5, 0],
    rejects: [() => Promise.reject(new Error('asynchronous')), 10],
    'throws undefined': [
      () => {
        throw undefined;
      },
      10,
    ],
  };
  for (const [what, [backoff, delay]] of Object.entries(backoffs)) {
    it(`whose backoff ${what} retries after ${delay} s`, async () => {
      await using store = await openStore();
      await store.push('a');
      const handle = () => {
        throw new Error('x');
      };
      const queue = { driver: store.driver, handlers: { a: { handle } }, backoff: backoff as () => number };
      const worker = new Worker({ queue, clock: store.time });
      const delays: number[] = [];
      worker.on('job_retried', (event) => delays.push(event.delay));
      expect(await worker.runNext()).toBe(true);
      expect(delays).toEqual([delay]);
    });
  }
});

describe('huge numbers', () => {
  it('of slots, of seconds and of failures are fine', async () => {
    await using store = await openStore();
    for (let n = 0; n < 3; n += 1) await store.push('a');
    const huge = Number.MAX_SAFE_INTEGER;
    const { worker, told } = workerOn(
      store,
      { a: () => wait(store, 1_000) },
      {
        concurrency: huge,
        lease: huge,
        timeout: Number.MAX_VALUE,
        grace: Number.MAX_VALUE,
        sleep: Number.MAX_VALUE,
        maxTime: Number.MAX_VALUE,
        shutdownTimeout: Number.MAX_VALUE,
        driverTimeout: Number.MAX_VALUE,
        maxJobs: huge,
        maxAbandoned: huge,
      },
    );
    const run = worker.run();
    await store.time.advance(1_000);
    expect(told('job_done')).toHaveLength(3);
    await worker.stop();
    expect(await run).toBe(0);
    expect(store.time.timers).toBe(0);
  });
});
