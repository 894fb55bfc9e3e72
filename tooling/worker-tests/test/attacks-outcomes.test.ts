import { describe, expect, it } from 'vitest';
import { type Fault, faulty, isDeletion, without } from '../src/faults.js';
import { gate, openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));
const down: Fault = { throws: Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }) };
const boom = () => {
  throw new Error('boom');
};

/** A driver whose deletions and claims are calls of their own. */
const oneByOne = (store: TestStore) => without(store.driver, ['deleteAndReserve']);

describe('the error of a job', () => {
  for (const [method, maxAttempts] of [
    ['release', 3],
    ['fail', 1],
  ] as const) {
    it(`is stored by ${method} once the store is back, however long that took`, async () => {
      await using store = await openStore();
      await store.push('a', { maxAttempts });
      const { driver } = faulty(store.driver, (name) =>
        name === method && store.time.monotonicMs() < 20_000 ? down : null,
      );
      const { worker } = workerOn(store, { a: boom }, { driver });
      const run = worker.runNext();
      await store.time.advance(30_000);
      await run;
      const stored = maxAttempts === 1 ? (await store.failed())[0]?.error : store.rows()[0]?.last_error;
      expect(stored).toMatch(/^Error: boom\n/);
    });
  }
});

describe('a store that is away while jobs end', () => {
  it('gets every outcome once when it is back, and no job runs twice', async () => {
    await using store = await openStore();
    for (let n = 0; n < 8; n += 1) await store.push(n % 2 === 0 ? 'ok' : 'bad', { maxAttempts: 1 });
    const isDown = () => store.time.monotonicMs() >= 500 && store.time.monotonicMs() < 15_500;
    const { driver } = faulty(store.driver, () => (isDown() ? down : null));
    const starts = new Map<number, number>();
    const count = (id: number) => starts.set(id, (starts.get(id) ?? 0) + 1);
    const { worker, told } = workerOn(
      store,
      {
        ok: async (_, job) => {
          count(job.id);
          await wait(store, 1_000);
        },
        bad: async (_, job) => {
          count(job.id);
          await wait(store, 1_000);
          boom();
        },
      },
      { driver, concurrency: 4, maxReserveFailures: 0 },
    );
    const run = worker.run();
    await store.time.advance(60_000);
    await worker.stop();
    expect(await run).toBe(0);
    expect([told('job_done').length, told('job_failed').length]).toEqual([4, 4]);
    expect([...starts.values()]).toEqual(Array.from({ length: 8 }, () => 1));
    expect(told('job_unrecorded')).toEqual([]);
    expect(store.rows()).toEqual([]);
  });

  it('ten times over leaves no timer and no listener more than there were', async () => {
    await using store = await openStore();
    const isDown = () => Math.floor(store.time.monotonicMs() / 20_000) % 2 === 1; // 20 s up, 20 s away
    const { driver } = faulty(store.driver, () => (isDown() ? down : null));
    const { worker, told } = workerOn(store, { a: () => wait(store, 300) }, { driver, maxReserveFailures: 0 });
    const listeners = () => ['SIGTERM', 'warning', 'exit'].map((name) => process.listenerCount(name));
    const before = listeners();
    const run = worker.run();
    await store.time.advance(40_000);
    for (let cycle = 1; cycle <= 10; cycle += 1) {
      await store.push('a');
      await store.time.advance(9_000); // the longest wait between two failed reserves is eight times `sleep`
      expect(told('job_done')).toHaveLength(cycle);
      expect(store.time.timers).toBe(1);
      await store.time.advance(31_000);
    }
    await worker.stop();
    expect(await run).toBe(0);
    expect(listeners()).toEqual(before);
    expect(store.time.timers).toBe(0);
  });
});

describe('an outcome that waits to be tried again', () => {
  it('is tried at once when the worker leaves', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    const { driver } = faulty(oneByOne(store), (method, n) => (method === 'delete' && n <= 8 ? down : null));
    const { worker, told } = workerOn(store, { a: () => {} }, { driver });
    const run = worker.run();
    await store.time.advance(16_000); // the next try is seconds away
    expect(told('record_failed')).toHaveLength(8);
    const stopped = worker.stop({ timeout: 0.001 });
    await store.time.advance(1);
    await Promise.all([stopped, run]);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([id]);
    expect(told('job_unrecorded')).toEqual([]);
  });

  it('keeps its claim meanwhile', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (method) =>
      isDeletion(method) && store.time.monotonicMs() < 25_000 ? down : null,
    );
    const one = workerOn(store, { a: () => wait(store, 10_000) }, { driver, lease: 20 });
    const two = workerOn(store, { a: () => {} }, { id: 'two', lease: 20 });
    const runs = [one.worker.run(), two.worker.run()];
    await store.time.advance(40_000);
    expect([one.told('job_done').length, two.told('job_started').length]).toEqual([1, 0]);
    await Promise.all([one.worker.stop(), two.worker.stop()]);
    await Promise.all(runs);
  });

  it('is given up when the claim ends, not a lease later, where that cannot be renewed either', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver } = faulty(store.driver, (method) => (method === 'reserve' ? null : down));
    const { worker, told } = workerOn(store, { a: () => wait(store, 20_000) }, { driver, lease: 30 });
    const run = worker.runNext();
    let endedMs = 0;
    void run.then(() => {
      endedMs = store.time.monotonicMs();
    });
    await store.time.advance(60_000);
    expect(await run).toBe(true);
    expect(told('job_unrecorded')).toHaveLength(1);
    expect(endedMs).toBeGreaterThanOrEqual(30_000);
    expect(endedMs).toBeLessThanOrEqual(35_000); // the longest pause between two tries
  });

  it('does not keep the others from being recorded, where its deletion is not answered', async () => {
    await using store = await openStore();
    for (let n = 0; n < 6; n += 1) await store.push('a');
    const { driver } = faulty(oneByOne(store), (method, n) => (method === 'delete' && n === 1 ? 'hangs' : null));
    const { worker, told } = workerOn(
      store,
      { a: (_, { id }) => wait(store, id === 1 ? 0 : 50) },
      { driver, concurrency: 3 },
    );
    const run = worker.run();
    await store.time.advance(1_000);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([2, 3, 4, 5, 6]);
    await store.time.advance(30_000);
    expect(told('job_done').map(({ job }) => job.id)).toEqual([2, 3, 4, 5, 6, 1]);
    await worker.stop();
    await run;
  });

  it('occupies its slot: nothing is claimed in its place', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.push('b');
    const { driver } = faulty(store.driver, (method) =>
      isDeletion(method) && store.time.monotonicMs() < 10_000 ? down : null,
    );
    const { worker, told } = workerOn(store, { a: () => {}, b: () => {} }, { driver });
    const run = worker.run();
    await store.time.advance(9_000);
    expect(told('job_started').map(({ job }) => job.name)).toEqual(['a']);
    await store.time.advance(10_000);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['a', 'b']);
    await worker.stop();
    await run;
  });
});

describe('a stale worker and the new holder of its job', () => {
  for (const order of ['the stale one first', 'the new one first', 'both at once'] as const) {
    it(`leave exactly one record, the new holder's: ${order}`, async () => {
      await using store = await openStore();
      const id = await store.push('a', { maxAttempts: 2 });
      const { driver } = faulty(store.driver, (name) => (name.startsWith('extend') ? down : null));
      const stale = gate();
      const fresh = gate();
      const one = workerOn(store, { a: () => stale.opened }, { driver, lease: 1, id: 'stale' });
      const two = workerOn(
        store,
        {
          a: async () => {
            await fresh.opened;
            boom();
          },
        },
        { lease: 60, id: 'fresh' },
      );
      const runs = [one.worker.runNext()];
      await store.time.advance(2_000);
      runs.push(two.worker.runNext());
      await store.time.settle();
      const open = [() => stale.open(), () => fresh.open()];
      if (order === 'the new one first') open.reverse();
      for (const each of open) {
        each();
        if (order !== 'both at once') await store.time.settle();
      }
      await Promise.all(runs);
      expect(one.told('claim_lost').map(({ job, outcome }) => [job.id, outcome])).toEqual([[id, 'done']]);
      expect([one.told('job_done').length, two.told('job_failed').length]).toEqual([0, 1]);
      expect((await store.failed()).map(({ attempts }) => attempts)).toEqual([2]);
      expect(store.rows()).toEqual([]);
    });
  }
});

describe('a listener of events', () => {
  it('may throw what cannot be described', async () => {
    await using store = await openStore();
    await store.push('a');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = [Object.create(null), proxy, Symbol('s'), undefined, Object.assign(boom, { toString: null })];
    const { worker, told } = workerOn(store, { a: () => {} }, { stopWhenEmpty: true });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    for (const value of hostile) {
      worker.on('job_done', () => {
        throw value;
      });
      worker.on('job_started', () => Promise.reject(value));
    }
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    await store.time.settle();
    process.off('warning', onWarning);
    expect(told('job_done')).toHaveLength(1);
    expect(warnings).toHaveLength(2 * hostile.length);
  });
});

describe('whatever is thrown, of stranger kinds', () => {
  const symbolicLength = new Proxy<unknown[]>([], {
    get: (target, key) => (key === 'length' ? Symbol('length') : Reflect.get(target, key)),
  });
  const named = () => {};
  Object.defineProperty(named, 'name', { value: Object.create(null) });
  const endless = new Error('x');
  Object.defineProperty(endless, 'cause', { get: () => Object.assign(new Error('deeper'), { cause: endless }) });
  const thrown: Readonly<Record<string, unknown>> = {
    'a list of errors whose length is a symbol': Object.assign(new Error('x'), { errors: symbolicLength }),
    'a function whose name is no text': named,
    'a code of 20 MB': Object.assign(new Error('x'), { code: 'x'.repeat(20_000_000) }),
    'a message of a million line breaks': new Error('\n'.repeat(1_000_000)),
    'a message of a million blanks': new Error(' '.repeat(1_000_000)),
    'a stack of a million blanks': Object.assign(new Error('x'), { stack: `${' \t'.repeat(500_000)}x` }),
    'a symbol of 1 MB': Symbol('x'.repeat(1_000_000)),
    'a bigint of 100,000 digits': 10n ** 100_000n,
    'a proxy of which every trap throws': new Proxy(
      {},
      new Proxy(
        {},
        {
          get: () => boom,
        },
      ),
    ),
    'a class': class Thrown {},
    'a thenable': {
      // biome-ignore lint/suspicious/noThenProperty: it is what is tried
      then: boom,
    },
    'a cause made anew each time it is read': endless,
    'an object without prototype': Object.create(null),
    'an object nested 100,000 deep': JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
    'an error of another kind': new DOMException('no', 'AbortError'),
    'an empty text': '',
  };
  for (const [what, value] of Object.entries(thrown)) {
    it(`is recorded soon and within limits: ${what}`, async () => {
      await using store = await openStore();
      await store.push('a');
      const { worker, told } = workerOn(store, {
        a: () => {
          throw value;
        },
      });
      const startMs = performance.now();
      expect(await worker.runNext()).toBe(true);
      expect(performance.now() - startMs).toBeLessThan(2_000);
      expect(told('job_retried')).toHaveLength(1);
      const [row] = store.rows();
      expect(row).toMatchObject({ attempts: 1, reserved_until: null });
      expect(row?.last_error).not.toBe('');
      expect(Buffer.byteLength(row?.last_error ?? '')).toBeLessThanOrEqual(60_000 + '\n... truncated'.length);
    });
  }
});
