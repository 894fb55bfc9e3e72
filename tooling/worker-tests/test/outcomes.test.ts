import { ClaimLost, isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { type Fault, faulty } from '../src/faults.js';
import { openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));
const down: Fault = { throws: Object.assign(new Error('deadlock'), { code: 'ER_LOCK_DEADLOCK' }) };
const boom = () => {
  throw new Error('boom');
};

describe('recording an outcome', () => {
  for (const method of ['delete', 'release', 'fail'] as const) {
    const options = method === 'fail' ? { maxAttempts: 1 } : {};
    const handlers = { a: method === 'delete' ? () => {} : boom };
    const events = { delete: 'job_done', release: 'job_retried', fail: 'job_failed' } as const;

    it(`is tried again when ${method} fails`, async () => {
      await using store = await openStore();
      await store.push('a', options);
      const { driver } = faulty(store.driver, (name, n) => (name === method && n <= 2 ? down : null));
      const { worker, told } = workerOn(store, handlers, { driver });
      const run = worker.runNext();
      await store.time.advance(1_000);
      expect(await run).toBe(true);
      expect(told(events[method])).toHaveLength(1);
      expect(told('record_failed')).toHaveLength(2);
      expect(told('claim_lost')).toEqual([]);
      expect(store.rows().map(({ attempts }) => attempts)).toEqual(method === 'release' ? [1] : []);
    });

    it(`takes "no match" for its own doing when the answer of ${method} was lost`, async () => {
      await using store = await openStore();
      await store.push('a', options);
      const { driver } = faulty(store.driver, (name, n) => (name === method && n === 1 ? 'acts, then throws' : null));
      const { worker, told } = workerOn(store, handlers, { driver });
      const run = worker.runNext();
      await store.time.advance(1_000);
      await run;
      expect(told(events[method])).toHaveLength(1);
      expect(told('claim_lost')).toEqual([]);
      expect(await store.failed()).toHaveLength(method === 'fail' ? 1 : 0);
    });

    it(`is given up, and reported, when ${method} fails for as long as the claim lasts`, async () => {
      await using store = await openStore();
      const id = await store.push('a', options);
      const { driver } = faulty(store.driver, (name) => (name === method ? down : null));
      const { worker, told } = workerOn(store, handlers, { driver, lease: 30 });
      const run = worker.runNext();
      await store.time.advance(40_000);
      await run;
      expect(told('job_unrecorded')).toMatchObject([{ job: { id } }]);
      expect(store.rows()).toMatchObject([{ id, attempts: 1, reserved_by: 'tester' }]);
      // The claim runs out, and the job with it is another worker's.
      await store.time.advance(30_000);
      expect(await store.driver.reserve(['default'], 60, 'another')).toMatchObject({ id, reclaimed: true });
    });

    it(`that ${method} never answers is tried again after driverTimeout`, async () => {
      await using store = await openStore();
      await store.push('a', options);
      const { driver } = faulty(store.driver, (name, n) => (name === method && n === 1 ? 'hangs' : null));
      const { worker, told } = workerOn(store, handlers, { driver, driverTimeout: 5 });
      const run = worker.runNext();
      await store.time.advance(6_000);
      await run;
      expect(told(events[method])).toHaveLength(1);
    });
  }

  it('goes one by one where a batch fails', async () => {
    await using store = await openStore();
    for (let n = 0; n < 4; n += 1) await store.push('a');
    const { driver } = faulty(store.driver, (name) => (name === 'deleteMany' ? down : null));
    const { worker, told } = workerOn(
      store,
      { a: () => wait(store, 10) },
      { driver, concurrency: 4, stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.advance(5_000);
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(4);
    expect(store.rows()).toEqual([]);
  });

  it('uses a constant where the store refuses the text', async () => {
    await using store = await openStore();
    await store.push('a');
    const picky = new Proxy(store.driver, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (key !== 'release') return typeof value === 'function' ? value.bind(target) : value;
        return async (claim: never, delay: number, error: string) => {
          if (error.includes('boom')) throw new Error('Incorrect string value');
          return target.release(claim, delay, error);
        };
      },
    });
    const { worker, told } = workerOn(store, { a: boom }, { driver: picky });
    const run = worker.runNext();
    await store.time.advance(5_000);
    await run;
    expect(told('job_retried')).toHaveLength(1);
    expect(store.rows()).toMatchObject([{ attempts: 1, last_error: 'The error could not be stored' }]);
  });

  it('is reported as a lost claim where the fence refuses it', async () => {
    for (const [handle, outcome] of [
      [() => {}, 'done'],
      [boom, 'retried'],
    ] as const) {
      await using store = await openStore();
      const id = await store.push('a');
      const { worker, told } = workerOn(store, {
        a: async () => {
          store.time.jump(61_000);
          await store.driver.reserve(['default'], 60, 'another');
          handle();
        },
      });
      await worker.runNext();
      expect(told('claim_lost')).toMatchObject([{ job: { id }, outcome }]);
      expect(store.rows()).toMatchObject([{ attempts: 2, reserved_by: 'another', last_error: '' }]);
    }
  });
});

describe('whatever is thrown', () => {
  const cyclic = new Error('end of the chain');
  let chain = cyclic;
  for (let n = 0; n < 10_000; n += 1) chain = new Error(`cause ${n}`, { cause: chain });
  cyclic.cause = chain;
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = Object.defineProperties(new Error('x'), {
    stack: { get: boom }, // first: to replace the stack, V8 reads the message
    message: { get: boom },
    name: { get: boom },
    cause: { get: boom },
    code: { get: boom },
  });
  const thrown: Readonly<Record<string, unknown>> = {
    undefined: undefined,
    null: null,
    'a symbol': Symbol('s'),
    'a revoked proxy': revoked,
    'a message of 20 MB': new Error('x'.repeat(20_000_000)),
    '100,000 emoji': new Error('😀'.repeat(100_000)),
    'NUL and half a pair': 'a\0b\ud800',
    'a cyclic cause of 10,000': chain,
    'an Error whose getters throw': hostile,
    'a name that is no string': Object.assign(new Error('x'), { name: {} }),
    'a stack that is no string': Object.assign(new Error('x'), { stack: 42 }),
    'an AggregateError of 5,000': new AggregateError(Array.from({ length: 5_000 }, () => new Error('one'))),
  };
  for (const [what, value] of Object.entries(thrown)) {
    it(`is recorded within limits, with its backoff, beside jobs that go on: ${what}`, async () => {
      await using store = await openStore();
      await store.push('a');
      await store.push('ok');
      const { worker, told } = workerOn(
        store,
        {
          a: () => {
            throw value;
          },
          ok: () => {},
        },
        { stopWhenEmpty: true },
      );
      const run = worker.run();
      await store.time.settle();
      expect(await run).toBe(0);
      expect(told('job_done').map(({ job }) => job.name)).toEqual(['ok']);
      const [row] = store.rows();
      expect(row).toMatchObject({ attempts: 1, available_at: '2027-01-01 00:00:10', reserved_until: null });
      expect(row?.last_error).not.toBe('');
      expect(row?.last_error).not.toMatch(/\0|\p{Surrogate}/u);
      expect(Buffer.byteLength(row?.last_error ?? '')).toBeLessThanOrEqual(60_000 + '\n... truncated'.length);
    });
  }
});

describe('completing inside a transaction', () => {
  const moved = (store: TestStore) => store.db.prepare('SELECT COUNT(*) AS n FROM moves').get() as { n: number };
  async function withMoves(): Promise<TestStore> {
    const store = await openStore();
    store.db.exec('CREATE TABLE moves (job integer)');
    return store;
  }
  const begin = (store: TestStore, id: number) => {
    store.db.exec('BEGIN');
    store.db.prepare('INSERT INTO moves VALUES (?)').run(id);
  };

  it('deletes the job with the commit, and the worker reports it done', async () => {
    await using store = await withMoves();
    await store.push('a');
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        begin(store, job.id);
        await job.complete(store.db);
        await job.complete(store.db); // twice: nothing
        store.db.exec('COMMIT');
      },
    });
    await worker.runNext();
    expect([moved(store).n, store.rows().length, told('job_done').length]).toEqual([1, 0, 1]);
    expect(told('claim_lost')).toEqual([]);
  });

  it('retries the job where the transaction rolled back', async () => {
    await using store = await withMoves();
    await store.push('a');
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        begin(store, job.id);
        await job.complete(store.db);
        store.db.exec('ROLLBACK');
      },
    });
    await worker.runNext();
    expect(moved(store).n).toBe(0);
    expect(told('job_retried')).toHaveLength(1);
    expect(store.rows()).toMatchObject([
      { attempts: 1, last_error: 'The transaction that completed this job did not commit' },
    ]);
  });

  it('stores the error of a handler that threw after completing, where its transaction rolled back', async () => {
    await using store = await withMoves();
    await store.push('a', { maxAttempts: 1 });
    const { worker } = workerOn(store, {
      a: async (_, job) => {
        begin(store, job.id);
        await job.complete(store.db);
        store.db.exec('ROLLBACK');
        throw new Error('insufficient funds');
      },
    });
    await worker.runNext();
    expect((await store.failed())[0]?.error).toMatch(/^Error: insufficient funds\n/);
  });

  it('is the success of a handler that threw after the commit', async () => {
    await using store = await withMoves();
    await store.push('a');
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        begin(store, job.id);
        await job.complete(store.db);
        store.db.exec('COMMIT');
        throw new Error('after the fact');
      },
    });
    await worker.runNext();
    expect([moved(store).n, store.rows().length, told('job_done').length]).toEqual([1, 0, 1]);
  });

  it('throws ClaimLost where the claim is gone, so that the transaction rolls back', async () => {
    await using store = await withMoves();
    const id = await store.push('a');
    let thrown: unknown;
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        store.time.jump(61_000);
        await store.driver.reserve(['default'], 60, 'another');
        begin(store, job.id);
        try {
          await job.complete(store.db);
          store.db.exec('COMMIT');
        } catch (error) {
          store.db.exec('ROLLBACK');
          thrown = error;
          throw error;
        }
      },
    });
    await worker.runNext();
    expect(thrown).toBeInstanceOf(ClaimLost);
    expect(moved(store).n).toBe(0);
    expect(told('claim_lost')).toHaveLength(1);
    expect(store.rows()).toMatchObject([{ id, attempts: 2, reserved_by: 'another' }]);
  });

  it('and releasing exclude each other, whichever comes first', async () => {
    await using store = await withMoves();
    await store.push('a');
    await store.push('b');
    const errors: unknown[] = [];
    const { worker } = workerOn(store, {
      a: async (_, job) => {
        job.release(5);
        await job.complete(store.db).catch((error: unknown) => errors.push(error));
      },
      b: async (_, job) => {
        begin(store, job.id);
        await job.complete(store.db);
        try {
          job.release(5);
        } catch (error) {
          errors.push(error);
        }
        store.db.exec('COMMIT');
      },
    });
    await worker.runNext();
    await worker.runNext();
    expect(errors.map((error) => isQueueError(error, 'job_settled'))).toEqual([true, true]);
    expect(store.rows().map(({ name, available_at }) => [name, available_at])).toEqual([['a', '2027-01-01 00:00:05']]);
  });

  it('refuses what is no transaction, and the job goes on', async () => {
    await using store = await withMoves();
    await store.push('a');
    let refusal: unknown;
    const { worker, told } = workerOn(store, {
      a: async (_, job) => {
        refusal = await job.complete(store.db).catch((error: unknown) => error); // no transaction is open
      },
    });
    await worker.runNext();
    expect(isQueueError(refusal, 'invalid_transaction')).toBe(true);
    expect(told('job_done')).toHaveLength(1);
  });
});
