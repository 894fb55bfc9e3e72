import { defineHandlers, type Handlers, isQueueError, Queue, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { replacing } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

/** How the jobs of a run of everything in the store ended, by name. */
async function endings(store: TestStore, worker: ReturnType<typeof workerOn>): Promise<Record<string, string[]>> {
  const run = worker.worker.run();
  await store.time.advance(60_000);
  await worker.worker.stop();
  await run;
  const ends: Record<string, string[]> = {};
  for (const event of worker.events) {
    if (!('job' in event) || event.type === 'job_started') continue;
    ends[event.job.name] = [...(ends[event.job.name] ?? []), event.type];
  }
  return ends;
}

describe('a handler that returns a thenable', () => {
  const thenables: Readonly<Record<string, [() => unknown, string[]]>> = {
    'whose then getter throws': [
      () =>
        Object.defineProperty({}, 'then', {
          get() {
            throw new Error('then?');
          },
        }),
      ['job_failed'],
    ],
    'whose then throws': [
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is what is tried
        then() {
          throw new Error('thrown by then');
        },
      }),
      ['job_failed'],
    ],
    'that resolves and then throws': [
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is what is tried
        then(resolve: (value: unknown) => void) {
          resolve(1);
          throw new Error('too late');
        },
      }),
      ['job_done'],
    ],
    'that rejects twice': [
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is what is tried
        then(_: unknown, reject: (error: unknown) => void) {
          reject(new Error('one'));
          reject(new Error('two'));
        },
      }),
      ['job_failed'],
    ],
    'that never settles': [
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is what is tried
        then() {},
      }),
      ['job_abandoned', 'job_failed'],
    ],
  };
  for (const [what, [handle, expected]] of Object.entries(thenables)) {
    it(`${what} ends once, and the next job runs`, async () => {
      await using store = await openStore();
      await store.push('a', { maxAttempts: 1 });
      await store.push('ok');
      const worker = workerOn(store, { a: handle, ok: () => {} }, { timeout: 3, grace: 5, maxAbandoned: 9 });
      expect(await endings(store, worker)).toEqual({ a: expected, ok: ['job_done'] });
    });
  }
});

describe('a handler that meddles with its job', () => {
  it('cannot make the worker settle another one', async () => {
    await using store = await openStore();
    await store.push('victim');
    await store.driver.reserve(['default'], 3_600, 'another');
    const meddler = await store.push('meddler', { maxAttempts: 1 });
    const { worker, told } = workerOn(store, {
      meddler: (_, job) => {
        Object.assign(job, { id: 1, attempts: 1 });
      },
    });
    await worker.runNext();
    expect(store.rows()).toMatchObject([{ name: 'victim', reserved_by: 'another' }]);
    expect(told('job_failed').map(({ job }) => job.id)).toEqual([meddler]);
    expect((await store.failed())[0]?.error).toMatch(/^TypeError: Cannot assign to read only property 'id'/);
  });

  it('cannot take the worker’s own methods away', async () => {
    for (const key of ['completionSettled', 'wishes', 'isCompleting', 'abort', 'isLastAttempt', 'attempts', 'handle']) {
      await using store = await openStore();
      await store.push('a');
      await store.push('ok');
      const worker = workerOn(
        store,
        {
          a: (_, job) => {
            const trap = () => {
              throw new Error('trapped');
            };
            Object.defineProperty(job, key, { get: trap, configurable: true });
          },
          ok: () => {},
        },
        { timeout: 3, grace: 5, maxAbandoned: 9, backoff: 3_600 },
      );
      expect(await endings(store, worker)).toEqual({ a: ['job_retried'], ok: ['job_done'] });
    }
  });
});

describe('a handler that acts on its job when it is over', () => {
  it('releasing it changes nothing', async () => {
    await using store = await openStore();
    await store.push('a');
    let releaseLate = () => {};
    const { worker, told } = workerOn(store, {
      a: (_, job) => {
        releaseLate = () => job.release(60);
      },
    });
    await worker.runNext();
    releaseLate();
    await store.time.settle();
    expect(told('job_done')).toHaveLength(1);
    expect(store.rows()).toEqual([]);
  });

  it('completing it throws ClaimLost, so that the transaction rolls back', async () => {
    await using store = await openStore();
    await store.push('a');
    let completeLate: () => Promise<void> = async () => {};
    const { worker } = workerOn(
      store,
      {
        a: (_, job) => {
          completeLate = () => job.complete(store.db);
          throw new Error('boom');
        },
      },
      { backoff: 0 },
    );
    await worker.runNext();
    store.db.exec('BEGIN');
    const error = await completeLate().catch((thrown: unknown) => thrown);
    store.db.exec('ROLLBACK');
    expect(isQueueError(error, 'claim_lost')).toBe(true);
    expect(store.rows()).toMatchObject([{ attempts: 1, reserved_until: null }]);
  });

  it('past its time limit, with a transaction that commits while the failure is being written, is told as done', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { opened: commits, open: commit } = gate();
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          await wait(store, 7_000);
          store.db.exec('BEGIN');
          await job.complete(store.db);
          await commits;
          store.db.exec('COMMIT');
        },
      },
      { timeout: 3, grace: 5, maxAbandoned: 9 },
    );
    const run = worker.runNext();
    await store.time.advance(8_000);
    expect(told('job_abandoned')).toHaveLength(1);
    commit();
    // SQLite waits for the transaction in real time.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await store.time.settle();
    await run;
    expect(store.rows()).toEqual([]);
    expect(told('claim_lost')).toEqual([]);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([id]);
  });
});

describe('a handler that completes without waiting', () => {
  it('twice at once deletes once, and the worker waits for it', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, {
      a: (_, job) => {
        store.db.exec('BEGIN');
        const both = Promise.all([job.complete(store.db), job.complete(store.db)]);
        void both.then(() => store.db.exec('COMMIT'));
      },
    });
    await worker.runNext();
    expect(told('job_done')).toHaveLength(1);
    expect(store.rows()).toEqual([]);
  });

  it('is waited for: the transaction decides, however late it does', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const rollingBack = replacing(store.driver, {
      within: () => ({
        delete: async () => {
          await wait(store, 1_000);
          return true; // in a transaction that is rolled back
        },
      }),
    });
    const { worker, told } = workerOn(
      store,
      {
        a: (_, job) => {
          void job.complete(store.db);
        },
      },
      { driver: rollingBack },
    );
    const run = worker.runNext();
    await store.time.advance(1_000);
    await run;
    expect(told('job_retried').map(({ job }) => job.id)).toEqual([id]);
    expect(store.rows()).toMatchObject([{ last_error: 'The transaction that completed this job did not commit' }]);
  });

  it('may try again with a transaction where it had none', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        await job.complete(store.db).catch(() => {});
        await job.complete('nonsense' as never).catch(() => {});
        store.db.exec('BEGIN');
        await job.complete(store.db);
        store.db.exec('COMMIT');
      },
    });
    await worker.runNext();
    expect(told('job_done')).toHaveLength(1);
    expect(store.rows()).toEqual([]);
  });
});

describe('a handler that turns on the process', () => {
  it('by emitting signals is put back like any other job', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker } = workerOn(
      store,
      {
        a: () => {
          process.emit('SIGTERM');
          process.emit('SIGINT');
          process.emit('SIGQUIT');
          return new Promise(() => {});
        },
      },
      { signals: true },
    );
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(store.rows()).toMatchObject([{ attempts: 1, reserved_until: null }]);
    expect(store.time.timers).toBe(0);
  });

  it('by stopping its worker and waiting for it ends at its time limit', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    const { worker } = workerOn(store, { a: () => worker.stop() }, { timeout: 3, grace: 5 });
    const run = worker.run();
    await store.time.advance(8_000);
    expect(await run).toBe(0);
    expect((await store.failed()).map(({ error }) => error)).toEqual(['The job ran past the timeout']);
  });

  it('by running the next job inside itself', async () => {
    await using store = await openStore();
    for (let n = 0; n < 4; n += 1) await store.push('a');
    const { worker, told } = workerOn(store, { a: () => worker.runNext() }, { stopWhenEmpty: true });
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(4);
  });

  it('by changing the registry it came from', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    await store.push('a', { maxAttempts: 1 });
    const handlers: Record<string, unknown> = {};
    handlers.a = {
      handle: () => {
        delete handlers.a;
      },
    };
    const queue = new Queue({ driver: store.driver, handlers: handlers as Handlers });
    const worker = new Worker({ queue, clock: store.time });
    expect([await worker.runNext(), await worker.runNext()]).toEqual([true, true]);
    expect((await store.failed()).map(({ error }) => error.split('\n')[0])).toEqual([
      'QueueError: No handler "a": a does not exist in the handler registry (code handler_unknown)',
    ]);
  });
});

describe('a registry from hell', () => {
  it('fails each of its jobs with its own error, and the others run', async () => {
    await using store = await openStore();
    const boom = () => {
      throw new Error('boom');
    };
    const entries: Record<string, unknown> = {
      throwing: boom,
      rejecting: async () => boom(),
      empty: () => undefined,
      'class that throws': class {
        constructor() {
          boom();
        }
        handle() {}
      },
      'proxy that throws': new Proxy({}, { get: boom }),
      'handle that is a getter that throws': Object.defineProperty({}, 'handle', { get: boom }),
      ok: { handle() {} },
    };
    for (const name of Object.keys(entries)) await store.push(name, { maxAttempts: 1 });
    const handlers = new Proxy(entries, {}) as Handlers;
    const queue = new Queue({ driver: store.driver, handlers: defineHandlers(handlers as never) as Handlers });
    const worker = new Worker({ queue, clock: store.time, stopWhenEmpty: true });
    const done: string[] = [];
    worker.on('job_done', ({ job }) => done.push(job.name));
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(done).toEqual(['ok']);
    expect(await store.failed()).toHaveLength(6);
  });
});
