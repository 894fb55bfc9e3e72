import { describe, expect, it } from 'vitest';
import { faulty, without } from '../src/faults.js';
import { faultsOfSchedule } from '../src/run-schedule.js';
import { faultsIn, lostJobs } from '../src/schedule.js';
import { openStore, type TestStore, workerOn } from '../src/store.js';

const wait = (store: TestStore, ms: number) => new Promise<void>((resolve) => store.time.after(ms, resolve));

describe('any schedule of faults, handlers and stops', () => {
  it.each([1, 2, 3, 4, 5, 6])('loses no job and ends each attempt once: %d', async (seed) => {
    expect(await faultsOfSchedule(seed)).toEqual([]);
  });
});

describe('a stop at any moment', () => {
  const BATCHES = ['pushMany', 'reserveMany', 'deleteMany', 'extendMany'];

  /** Six jobs of every outcome, and a worker that is told to stop as `when` says. */
  async function stopping(
    lacking: readonly string[],
    how: 'gently' | 'in a hurry',
    when: (stop: () => void, calls: number) => void,
  ): Promise<string[]> {
    await using store = await openStore();
    for (const name of ['ok', 'slow', 'bad', 'last', 'again', 'ok']) {
      await store.push(name, { maxAttempts: name === 'last' ? 1 : 3 });
    }
    const boom = () => {
      throw new Error('boom');
    };
    let calls = 0;
    const stop = () => void worker.stop(how === 'gently' ? {} : { timeout: 0.001 });
    const { driver } = faulty(without(store.driver, lacking), () => {
      calls += 1;
      when(stop, calls);
      return null;
    });
    const one = workerOn(
      store,
      { ok: () => {}, slow: () => wait(store, 50), bad: boom, last: boom, again: (_, job) => job.release(0) },
      { driver, concurrency: 3, stopWhenEmpty: true, backoff: 3_600, maxJobs: 40 },
    );
    const { worker, events } = one;
    const run = worker.run();
    when(stop, 0);
    await store.time.advance(5_000);
    await run;
    const left = store.rows().filter(({ reserved_until }) => reserved_until !== null);
    return [
      ...faultsIn(events, 3),
      ...lostJobs(store, 6, [one]).map((id) => `job ${id} is lost`),
      ...left.map(({ id }) => `job ${id} is held`),
      ...(store.time.timers === 0 ? [] : [`${store.time.timers} timers are left`]),
    ];
  }

  for (const how of ['gently', 'in a hurry'] as const) {
    for (const [what, lacking] of [
      ['a driver of everything', []],
      ['a driver without batches', BATCHES],
    ] as const) {
      it(`leaves nothing in hand, ${how}, at any call of ${what}`, async () => {
        for (let at = 0; at <= 24; at += 1) {
          const faults = await stopping(lacking, how, (stop, calls) => {
            if (calls === at) stop();
          });
          expect([at, faults]).toEqual([at, []]);
        }
      });

      it(`leaves nothing in hand, ${how}, any number of microtasks after the start, on ${what}`, async () => {
        for (let at = 0; at <= 120; at += 3) {
          const faults = await stopping(lacking, how, (stop, calls) => {
            if (calls !== 0) return;
            void (async () => {
              for (let n = 0; n < at; n += 1) await null;
              stop();
            })();
          });
          expect([at, faults]).toEqual([at, []]);
        }
      });
    }
  }
});
