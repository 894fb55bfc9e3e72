import { describe, expect, it } from 'vitest';
import { faulty, without } from '../src/faults.js';
import { openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

describe('a worker with several slots', () => {
  it('runs 12 jobs of 300 ms at concurrency 4 in 900 ms, however long it sleeps, and never holds more than 4', async () => {
    await using store = await openStore();
    for (let n = 0; n < 12; n += 1) await store.push('a');
    let most = 0;
    const { worker, told } = workerOn(
      store,
      {
        a: async () => {
          const held = store.rows().filter(({ reserved_until }) => reserved_until !== null).length;
          most = Math.max(most, held);
          await wait(store, 300);
        },
      },
      { concurrency: 4, sleep: 60 },
    );
    const run = worker.run();
    await store.time.advance(900);
    expect(told('job_done')).toHaveLength(12);
    expect(most).toBe(4);
    await worker.stop();
    await run;
  });

  it('leaves what it has no slot for to another worker', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.push('a');
    const one = workerOn(store, { a: () => wait(store, 1_000) });
    const two = workerOn(store, { a: () => wait(store, 1_000) });
    const runs = [one.worker.run(), two.worker.run()];
    await store.time.settle();
    expect([one.told('job_started').length, two.told('job_started').length]).toEqual([1, 1]);
    await store.time.advance(1_000);
    await Promise.all([one.worker.stop(), two.worker.stop()]);
    await Promise.all(runs);
  });

  it('keeps strict order at 1: each job is gone from the store before the next is claimed', async () => {
    await using store = await openStore();
    for (const priority of [1, 5, 3]) await store.push(`p${priority}`, { priority });
    const seen: string[] = [];
    const note = () => {
      seen.push(
        store
          .rows()
          .map(({ name, attempts }) => `${name}:${attempts}`)
          .join(' '),
      );
    };
    const { worker } = workerOn(store, { p1: note, p3: note, p5: note }, { stopWhenEmpty: true });
    const run = worker.run();
    await store.time.settle();
    await run;
    expect(seen).toEqual(['p1:0 p5:1 p3:0', 'p1:0 p3:1', 'p1:1']);
  });

  it('claims in batches no larger than its free slots, and completes in one call what is ready together', async () => {
    await using store = await openStore();
    for (let n = 0; n < 8; n += 1) await store.push('a');
    const { driver, calls } = faulty(without(store.driver, ['deleteAndReserve']), () => null);
    const { worker, told } = workerOn(store, { a: () => wait(store, 300) }, { driver, concurrency: 4 });
    const run = worker.run();
    await store.time.advance(600);
    expect(told('job_done')).toHaveLength(8);
    expect(calls.get('deleteMany')).toBe(2);
    expect(calls.get('delete')).toBeUndefined();
    // One batch for each four, and one look that finds nothing.
    expect(calls.get('reserveMany')).toBe(3);
    await worker.stop();
    await run;
  });

  it('completes, and claims what takes their place, in one call', async () => {
    await using store = await openStore();
    for (let n = 0; n < 12; n += 1) await store.push('a');
    const { driver, calls } = faulty(store.driver, () => null);
    const { worker, events } = workerOn(store, { a: () => wait(store, 300) }, { driver, concurrency: 4 });
    const run = worker.run();
    await store.time.advance(900);
    // The first batch and the look that finds nothing; each four are gone before the next four are told to have started.
    expect([calls.get('reserveMany'), calls.get('deleteAndReserve')]).toEqual([2, 3]);
    expect([calls.get('deleteMany'), calls.get('delete')]).toEqual([undefined, undefined]);
    const four = (type: string) => Array.from({ length: 4 }, () => type);
    const told = events.map(({ type }) => type).filter((type) => type === 'job_started' || type === 'job_done');
    expect(told).toEqual([1, 2, 3].flatMap(() => [...four('job_started'), ...four('job_done')]));
    await worker.stop();
    await run;
  });

  it('claims nothing in the place of what it completes where it may not', async () => {
    for (const how of ['at its limit', 'after a stop', 'for runNext'] as const) {
      await using store = await openStore();
      for (let n = 0; n < 6; n += 1) await store.push('a');
      const { driver, calls } = faulty(store.driver, () => null);
      const { worker, told } = workerOn(
        store,
        { a: () => wait(store, 300) },
        { driver, concurrency: 2, maxJobs: how === 'at its limit' ? 3 : 0 },
      );
      const run = how === 'for runNext' ? worker.runNext() : worker.run();
      await store.time.advance(100);
      if (how === 'after a stop') void worker.stop();
      await store.time.advance(5_000);
      await run;
      const done = { 'at its limit': 3, 'after a stop': 2, 'for runNext': 1 }[how];
      expect([how, told('job_done').length]).toEqual([how, done]);
      expect([how, store.rows().filter(({ attempts }) => attempts > 0).length]).toEqual([how, 0]);
      expect([how, calls.get('deleteAndReserve')]).toEqual([how, how === 'at its limit' ? 1 : undefined]);
    }
  });

  it('claims nothing after a stop either while a look is still under way', async () => {
    await using store = await openStore();
    await store.push('a');
    const { driver, calls } = faulty(store.driver, (method) => (method === 'reserve' ? 'hangs' : null));
    const { worker, told } = workerOn(store, { a: () => wait(store, 300) }, { driver, concurrency: 2 });
    const run = worker.run();
    await store.time.advance(100);
    expect(calls.get('reserve')).toBe(1); // for the second slot
    await store.push('a');
    void worker.stop();
    await store.time.advance(60_000);
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(1);
    expect(calls.get('deleteAndReserve')).toBeUndefined();
    expect(store.rows()).toMatchObject([{ attempts: 0 }]);
  });

  it('runs a job once whose completion acted, though its answer, and the claims in it, were lost', async () => {
    await using store = await openStore();
    for (let n = 0; n < 4; n += 1) await store.push('a');
    const { driver } = faulty(store.driver, (method, n) => {
      return method === 'deleteAndReserve' && n === 1 ? 'acts, then throws' : null;
    });
    const { worker, told } = workerOn(store, { a: () => {} }, { driver, concurrency: 2, lease: 20 });
    const run = worker.run();
    await store.time.advance(60_000);
    expect(told('job_done').map(({ job }) => [job.id, job.attempts])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 2],
    ]);
    await worker.stop();
    await run;
  });

  it('leaves timers their turn on a store that answers at once, however many jobs there are', async () => {
    await using store = await openStore();
    for (let n = 0; n < 200; n += 1) await store.push('a');
    let turns = 0;
    const count = () => {
      turns += 1;
      if (turns < 10_000) setImmediate(count);
    };
    const { worker, told } = workerOn(store, { a: () => {} }, { concurrency: 2, stopWhenEmpty: true });
    const run = worker.run();
    setImmediate(count);
    let running = true;
    void run.then(() => {
      running = false;
    });
    while (running) await store.time.advance(1);
    expect(told('job_done')).toHaveLength(200);
    expect(turns).toBeGreaterThan(90);
    turns = 10_000;
  });

  it('does the same one by one on a driver without batches', async () => {
    await using store = await openStore();
    for (let n = 0; n < 8; n += 1) await store.push('a');
    const driver = without(store.driver, ['pushMany', 'reserveMany', 'deleteMany', 'extendMany']);
    let running = 0;
    let most = 0;
    const { worker, told } = workerOn(
      store,
      {
        a: async () => {
          running += 1;
          most = Math.max(most, running);
          await wait(store, 300);
          running -= 1;
        },
      },
      { driver, concurrency: 4 },
    );
    const run = worker.run();
    await store.time.advance(600);
    expect(told('job_done')).toHaveLength(8);
    expect(most).toBe(4);
    await worker.stop();
    await run;
  });

  it('claims again as soon as one slot is free, while the others are busy', async () => {
    await using store = await openStore();
    await store.push('short');
    await store.push('long');
    await store.push('short');
    const { worker, told } = workerOn(
      store,
      { short: () => wait(store, 100), long: () => wait(store, 10_000) },
      { concurrency: 2, sleep: 60 },
    );
    const run = worker.run();
    await store.time.advance(200);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['short', 'short']);
    await store.time.advance(10_000);
    await worker.stop();
    await run;
  });
});

describe('a job taken over from an expired claim', () => {
  /** Four jobs, claimed together by a worker that died, whose claims have run out. */
  async function afterACrash(maxAttempts = 3): Promise<TestStore> {
    const store = await openStore();
    for (const name of ['p', 'h1', 'h2', 'h3']) await store.push(name, { maxAttempts });
    await store.driver.reserveMany(['default'], 4, 60, 'the dead');
    store.time.jump(61_000);
    return store;
  }

  it('runs alone: its worker takes nothing beside it', async () => {
    await using store = await afterACrash();
    await store.push('fresh');
    const beside: number[] = [];
    const handle = async () => {
      await wait(store, 100);
      beside.push(store.rows().filter(({ reserved_by }) => reserved_by === 'tester').length);
    };
    const { worker, told } = workerOn(
      store,
      { p: handle, h1: handle, h2: handle, h3: handle, fresh: handle },
      {
        concurrency: 4,
      },
    );
    const run = worker.run();
    await store.time.advance(1_000);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['p', 'h1', 'h2', 'h3', 'fresh']);
    expect(beside).toEqual([1, 1, 1, 1, 1]);
    await worker.stop();
    await run;
  });

  it('is charged for a crash it was part of, and never for the next one of a neighbour', async () => {
    await using store = await afterACrash();
    // Three more workers die with the poison job, each having claimed all it would.
    for (const expected of [2, 3, 4]) {
      const claimed = await store.driver.reserveMany(['default'], 4, 60, 'dies too');
      expect(claimed.map(({ name, attempts }) => [name, attempts])).toEqual([['p', expected]]);
      store.time.jump(61_000);
    }
    expect(store.rows().map(({ name, attempts }) => [name, attempts])).toEqual([
      ['p', 4],
      ['h1', 1],
      ['h2', 1],
      ['h3', 1],
    ]);
  });

  it('is failed unrun once its attempts are used up', async () => {
    await using store = await afterACrash(1);
    const { worker, told } = workerOn(store, {}, { stopWhenEmpty: true, concurrency: 4 });
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(told('job_started')).toEqual([]);
    expect((await store.failed()).map(({ name, attempts, error }) => [name, attempts, error]).reverse()).toEqual(
      ['p', 'h1', 'h2', 'h3'].map((name) => [name, 2, 'The worker running the last attempt died or lost its claim']),
    );
  });

  it('waits for what the worker has in hand, and keeps its claim meanwhile', async () => {
    await using store = await openStore();
    await store.push('long');
    const { worker, told } = workerOn(
      store,
      { long: () => wait(store, 100_000), p: () => wait(store, 10) },
      { concurrency: 4, sleep: 1, lease: 30 },
    );
    const run = worker.run();
    await store.time.settle();
    await store.push('p');
    await store.driver.reserve(['default'], 0, 'the dead');
    await store.time.advance(2_000);
    expect(store.rows().map(({ name, reserved_by }) => [name, reserved_by])).toEqual([
      ['long', 'tester'],
      ['p', 'tester'],
    ]);
    expect(told('job_started').map(({ job }) => job.name)).toEqual(['long']);
    await store.time.advance(98_100);
    expect(told('job_done').map(({ job }) => job.name)).toEqual(['long', 'p']);
    expect(told('claim_lost')).toEqual([]);
    await worker.stop();
    await run;
  });

  it('that was released runs with the others, however high its attempts are', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    for (let n = 0; n < 5; n += 1) {
      const claim = await store.driver.reserve(['default'], 60, 'x');
      if (claim !== null) await store.driver.release(claim, 0, '');
    }
    const { worker, told } = workerOn(store, { a: () => {} });
    expect(await worker.runNext()).toBe(true);
    expect(told('job_done').map(({ job }) => job.attempts)).toEqual([6]);
  });
});
