import { describe, expect, it } from 'vitest';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

describe('the time limit', () => {
  it('aborts the signal at timeout, and a handler that returns within the grace is done', async () => {
    await using store = await openStore();
    await store.push('a');
    const seen: unknown[] = [];
    const { worker, told } = workerOn(
      store,
      {
        a: (_, job) =>
          new Promise<void>((resolve) =>
            job.signal.addEventListener('abort', () => {
              seen.push(store.time.monotonicMs(), (job.signal.reason as { code: string }).code);
              resolve();
            }),
          ),
      },
      { timeout: 3, grace: 5 },
    );
    const run = worker.runNext();
    await store.time.advance(3_000);
    await run;
    expect(seen).toEqual([3_000, 'timeout']);
    expect(told('job_done')).toHaveLength(1);
  });

  it('counts from the start of each handler, not from the claim or the start of the worker', async () => {
    await using store = await openStore();
    for (let n = 0; n < 10; n += 1) await store.push('a');
    const { worker, told } = workerOn(store, { a: () => wait(store, 400) }, { timeout: 1, stopWhenEmpty: true });
    const run = worker.run();
    await store.time.advance(4_000);
    await run;
    expect(told('job_done')).toHaveLength(10);
    expect(told('job_retried')).toEqual([]);
  });

  it('gives a handler that throws within the grace its own error', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    const { worker } = workerOn(
      store,
      {
        a: async (_, job) => {
          await new Promise((_resolve, reject) =>
            job.signal.addEventListener('abort', () => reject(job.signal.reason)),
          );
        },
      },
      { timeout: 3 },
    );
    const run = worker.runNext();
    await store.time.advance(3_000);
    await run;
    expect((await store.failed())[0]?.error).toMatch(
      /^JobAborted: The job ran past its time limit of 3 s \(code timeout\)\n/,
    );
  });

  it('abandons a handler after the grace: the attempt has thrown, the slot is free, the retry waits for its backoff', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    await store.push('b');
    const { opened, open } = gate();
    const { worker, told } = workerOn(
      store,
      { a: () => opened, b: () => {} },
      { timeout: 3, grace: 5, backoff: 90, maxAbandoned: 2 },
    );
    const run = worker.run();
    await store.time.advance(7_999);
    expect(told('job_abandoned')).toEqual([]);
    await store.time.advance(1);
    expect(told('job_abandoned')).toMatchObject([{ job: { id }, abandoned: 1 }]);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['b']);
    expect(store.rows()).toMatchObject([{ id, attempts: 1, last_error: 'The job ran past the timeout' }]);
    open();
    await store.time.settle();
    // What an abandoned handler does in the end changes nothing any more.
    expect(store.rows()).toHaveLength(1);
    await worker.stop();
    expect(await run).toBe(0);
  });

  it('ends the worker with exit code 1 when too many abandoned handlers are still running', async () => {
    await using store = await openStore();
    for (const name of ['a', 'a', 'ok']) await store.push(name, { maxAttempts: 1 });
    const { worker, told } = workerOn(
      store,
      { a: () => new Promise(() => {}), ok: () => wait(store, 7_500) },
      {
        timeout: 3,
        grace: 5,
        concurrency: 3,
        maxAbandoned: 2,
      },
    );
    const run = worker.run();
    await store.time.advance(9_000);
    expect(await run).toBe(1);
    expect(told('stopping')).toEqual([{ type: 'stopping', reason: { why: 'abandoned', handlers: 2 } }]);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['ok']);
    expect((await store.failed()).map(({ error }) => error)).toEqual([
      'The job ran past the timeout',
      'The job ran past the timeout',
    ]);
  });

  it('counts only abandoned handlers that are still running', async () => {
    await using store = await openStore();
    for (let n = 0; n < 3; n += 1) await store.push('a', { maxAttempts: 1 });
    const { worker, told } = workerOn(
      store,
      { a: () => wait(store, 9_000) },
      {
        timeout: 3,
        grace: 5,
        maxAbandoned: 2,
        stopWhenEmpty: true,
      },
    );
    const run = worker.run();
    await store.time.advance(30_000);
    expect(await run).toBe(0);
    expect(told('job_abandoned').map(({ abandoned }) => abandoned)).toEqual([1, 1, 1]);
  });

  it('is none where timeout is 0', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => wait(store, 7 * 86_400_000) }, { timeout: 0, lease: 3_600 });
    const run = worker.runNext();
    await store.time.advance(7 * 86_400_000);
    await run;
    expect(told('job_done')).toHaveLength(1);
  });
});
