import { JobAborted, QueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { faulty, without } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

describe('a lease', () => {
  it('is renewed while the handler runs: three workers, one start, one finish', async () => {
    await using store = await openStore();
    await store.push('a');
    const workers = [1, 2, 3].map((n) =>
      workerOn(store, { a: () => wait(store, 10_000) }, { lease: 2, id: `worker ${n}`, sleep: 0.1 }),
    );
    const runs = workers.map(({ worker }) => worker.run());
    await store.time.advance(11_000);
    expect(workers.flatMap(({ told }) => told('job_started'))).toHaveLength(1);
    expect(workers.flatMap(({ told }) => told('job_done'))).toHaveLength(1);
    await Promise.all(workers.map(({ worker }) => worker.stop()));
    await Promise.all(runs);
  });

  it('is renewed until the last outcome is written, draining included', async () => {
    await using store = await openStore();
    await store.push('a');
    const one = workerOn(store, { a: () => wait(store, 5_000) }, { lease: 1 });
    const two = workerOn(store, { a: () => {} }, { lease: 1, sleep: 0.1 });
    const runs = [one.worker.run(), two.worker.run()];
    await store.time.advance(500);
    const stopped = one.worker.stop();
    await store.time.advance(4_500);
    await stopped;
    expect([one.told('job_done').length, two.told('job_started').length]).toEqual([1, 0]);
    await two.worker.stop();
    await Promise.all(runs);
  });

  it('brings the job of a dead worker back after it', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.driver.reserve(['default'], 2, 'the dead');
    const { worker, told } = workerOn(store, { a: () => {} }, { lease: 2 });
    const run = worker.run();
    await store.time.advance(1_900);
    expect(told('job_started')).toEqual([]);
    await store.time.advance(2_000);
    expect(told('job_done')).toHaveLength(1);
    await worker.stop();
    await run;
  });

  it('that ran out while the loop was blocked is noticed: the outcome is offered, refused, and reported with the delay', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { worker, told } = workerOn(
      store,
      {
        a: async () => {
          store.time.jump(3_000); // no timer of this process fires meanwhile
          await store.driver.reserve(['default'], 60, 'another');
        },
      },
      { lease: 1 },
    );
    await worker.runNext();
    expect(told('job_done')).toEqual([]);
    const [lost] = told('claim_lost');
    expect(lost).toMatchObject({ outcome: 'done', job: { id, attempts: 1 } });
    expect(lost?.eventLoopDelayMs).toBeGreaterThanOrEqual(2_000);
    expect(store.rows()).toMatchObject([{ id, attempts: 2, reserved_by: 'another' }]);
  });

  it('that ran out but was taken by nobody still lets its holder finish', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => store.time.jump(3_000) }, { lease: 1 });
    await worker.runNext();
    expect(told('job_done')).toHaveLength(1);
    expect(store.rows()).toEqual([]);
  });

  it('that a renewal finds gone aborts the signal with the reason claim_lost', async () => {
    await using store = await openStore();
    await store.push('a');
    const reasons: unknown[] = [];
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          store.time.jump(3_000);
          await store.driver.reserve(['default'], 60, 'another');
          await new Promise<void>((resolve) => job.signal.addEventListener('abort', () => resolve()));
          reasons.push(job.signal.reason);
        },
      },
      { lease: 2 },
    );
    const run = worker.runNext();
    await store.time.advance(1_000);
    await run;
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toBeInstanceOf(JobAborted);
    expect(reasons[0]).toMatchObject({ code: 'claim_lost', name: 'JobAborted' });
    expect(told('claim_lost')).toHaveLength(1);
  });

  it('that cannot be renewed is tried again, and aborts the signal when it has passed on the monotonic clock', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver, calls } = faulty(store.driver, (method) =>
      method.startsWith('extend') ? { throws: new Error('no connection') } : null,
    );
    let abortedAtMs = 0;
    const { opened, open } = gate();
    const { worker, told } = workerOn(
      store,
      {
        a: (_, job) => {
          job.signal.addEventListener('abort', () => {
            abortedAtMs = store.time.monotonicMs();
          });
          return opened;
        },
      },
      { driver, lease: 30 },
    );
    const run = worker.runNext();
    await store.time.advance(29_999);
    expect(abortedAtMs).toBe(0);
    expect(calls.get('extendMany')).toBe(2);
    expect(told('renew_failed')).toHaveLength(2);
    await store.time.advance(1);
    expect(abortedAtMs).toBe(30_000);
    open();
    await run;
    expect(told('job_done')).toHaveLength(1);
  });

  it('survives a renewal that never answers: the next one is sent all the same', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (method, n) => (method === 'extendMany' && n === 1 ? 'hangs' : null));
    const { worker, told } = workerOn(store, { a: () => wait(store, 90_000) }, { driver, lease: 30 });
    const run = worker.runNext();
    await store.time.advance(90_000);
    await run;
    expect(told('renew_failed')).toHaveLength(1);
    expect(told('job_done')).toHaveLength(1);
  });

  it('is not renewed any more once the job is being completed', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver, calls } = faulty(store.driver, () => null);
    const { worker } = workerOn(
      store,
      {
        a: async (_, job) => {
          store.db.exec('BEGIN');
          await job.complete(store.db);
          await wait(store, 100_000);
          store.db.exec('COMMIT');
        },
      },
      { driver, lease: 30 },
    );
    const run = worker.runNext();
    await store.time.advance(100_000);
    await run;
    expect(calls.get('extendMany')).toBeUndefined();
  });

  it('is one claim of timeout + grace on a driver without leases', async () => {
    await using store = await openStore();
    await store.push('a');
    const driver = without(store.driver, ['extend', 'extendMany']);
    const { worker } = workerOn(store, { a: () => wait(store, 50_000) }, { driver, timeout: 100, grace: 5, lease: 10 });
    const run = worker.runNext();
    await store.time.settle();
    expect(store.rows()).toMatchObject([{ reserved_until: '2027-01-01 00:01:45' }]);
    await store.time.advance(50_000);
    await run;
    expect(store.rows()).toEqual([]);
    expect(() => workerOn(store, {}, { driver, timeout: 0 })).toThrow(QueueError);
  });
});
