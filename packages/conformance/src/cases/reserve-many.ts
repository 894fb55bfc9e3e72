import { deepEqual, equal, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase, type DriverWith } from '../case.js';
import { sameIds } from '../expectations.js';
import { aJob, drain, ids, lowestFirst, reserveNone, reserveOne, textOf, WORKER } from '../fixtures.js';

export const reserveMany: readonly ConformanceCase[] = [
  aCase({
    id: 'reserve-many/never-more-than-limit',
    name: 'A batch is never larger than its limit, as large as there are jobs, and claims no others',
    rule: 'reserve-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      await pushSome(driver, 10);
      for (const [limit, size] of [
        [1, 1],
        [3, 3],
        [5, 5],
        [7, 1],
        [7, 0],
      ] as const) {
        equal((await driver.reserveMany(['default'], limit, 60, WORKER)).length, size, `jobs for limit ${limit}`);
      }
    },
  }),
  aCase({
    id: 'reserve-many/claims',
    name: 'Each job of a batch is claimed as by a reserve: its attempt, its deadline, its worker, cut to 64',
    rule: 'reserve-many',
    needs: ['batches', 'jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      for (const n of [0, 1]) await driver.push(aJob({ payload: [n], priority: -n }));
      clock.advance(0.05);
      const jobs = await driver.reserveMany(['default'], 5, 10, textOf(70, 'w'));
      deepEqual(
        jobs.map(({ attempts, reclaimed, payload }) => ({ attempts, reclaimed, payload })),
        [0, 1].map((n) => ({ attempts: 1, reclaimed: false, payload: [n] })),
        'the jobs given',
      );
      const until = clock.second(11).toISOString();
      deepEqual(
        (await jobRows()).map((row) => [row.attempts, row.reservedBy, row.reservedUntil?.toISOString()]),
        [1, 2].map(() => [1, textOf(64, 'w'), until]),
        'the rows stored',
      );
      await reserveNone(driver, 'while the batch is held');
    },
  }),
  aCase({
    id: 'reserve-many/order',
    name: 'A batch takes the queues in order and the highest priorities first, and leaves what is not due',
    rule: 'reserve-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      const low = await driver.push(aJob({ queue: 'high', priority: 1 }));
      const high = await driver.push(aJob({ queue: 'high', priority: 2 }));
      await driver.push(aJob({ queue: 'high', priority: 3, delay: 60 }));
      const later = await driver.push(aJob({ queue: 'a', priority: 9 }));
      const last = await driver.push(aJob({ queue: 'a', priority: 8 }));
      const queues = ['high', 'empty', 'a'];
      deepEqual(ids(await driver.reserveMany(queues, 3, 60, WORKER)), [high, low, later], 'the first batch');
      deepEqual(ids(await driver.reserveMany(queues, 3, 60, WORKER)), [last], 'the second batch');
    },
  }),
  aCase({
    id: 'reserve-many/exact-order',
    name: 'Within a priority a batch takes the earliest due first, then the lowest id',
    rule: 'reserve-many',
    needs: ['batches', 'exactOrder'],
    run: async ({ driver, clock }) => {
      const late = await driver.push(aJob({ delay: 20 }));
      const early = await driver.push(aJob({ delay: 10 }));
      const tie = await driver.push(aJob({ delay: 20 }));
      clock.advance(30);
      const expected = [early, ...lowestFirst(late, tie)];
      deepEqual(ids(await driver.reserveMany(['default'], 3, 60, WORKER)), expected, 'the ids of the batch');
    },
  }),
  aCase({
    id: 'reserve-many/no-queues',
    name: 'A batch from no queues is empty, and so is one from queues with nothing due',
    rule: 'reserve-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob({ delay: 60 }));
      deepEqual(await driver.reserveMany([], 5, 60, WORKER), [], 'from no queues');
      deepEqual(await driver.reserveMany(['default', 'mail'], 5, 60, WORKER), [], 'with nothing due');
    },
  }),
  aCase({
    id: 'reserve-many/ends-before-a-reclaimed-job',
    name: 'A batch ends before a job taken over from an expired claim; the next one is that job alone',
    rule: 'reclaimed-alone',
    needs: ['batches'],
    run: async ({ driver, clock }) => {
      const expired = await driver.push(aJob({ priority: 5 }));
      await reserveOne(driver, { timeout: 10 });
      const before = await driver.push(aJob({ priority: 9 }));
      const after = await driver.push(aJob({ priority: 1 }));
      clock.advance(10);
      const batches = [];
      for (let count = 0; count < 3; count += 1) {
        batches.push(
          (await driver.reserveMany(['default'], 10, 60, WORKER)).map(({ id, reclaimed }) => [id, reclaimed]),
        );
      }
      deepEqual(
        batches,
        [[[before, false]], [[expired, true]], [[after, false]]],
        'the batches: ids, and whether reclaimed',
      );
    },
  }),
  aCase({
    id: 'reserve-many/one-reclaimed-at-a-time',
    name: 'Of several jobs with expired claims each comes in a batch of its own, across queues too',
    rule: 'reclaimed-alone',
    needs: ['batches'],
    run: async ({ driver, clock }) => {
      const expired = [];
      for (const queue of ['a', 'a', 'b']) {
        expired.push(await driver.push(aJob({ queue })));
        await reserveOne(driver, { queue, timeout: 10 });
      }
      const fresh = await driver.push(aJob({ queue: 'c' }));
      clock.advance(10);
      const seen: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        const batch = await driver.reserveMany(['a', 'b', 'c'], 10, 60, WORKER);
        deepEqual(
          batch.map(({ reclaimed }) => reclaimed),
          [true],
          'one job, taken over',
        );
        seen.push(...ids(batch));
      }
      sameIds(seen, expired, 'the jobs taken over');
      deepEqual(ids(await driver.reserveMany(['a', 'b', 'c'], 10, 60, WORKER)), [fresh], 'the batch after them');
    },
  }),
  aCase({
    id: 'reserve-many/timeout-zero',
    name: 'A batch of claims of 0 seconds or less, which have expired already, has no job twice',
    rule: 'reserve-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      for (const [queue, timeout] of [
        ['a', 0],
        ['b', -60],
      ] as const) {
        for (let count = 0; count < 3; count += 1) await driver.push(aJob({ queue }));
        const batch = ids(await driver.reserveMany([queue], 3, timeout, WORKER));
        ok(batch.length > 0, 'there has to be a job in the batch');
        equal(new Set(batch).size, batch.length, `how many jobs are in a batch of ${batch.length}`);
      }
    },
  }),
  aCase({
    id: 'reserve-many/race',
    name: 'Two clients that take batches at once never share a job and leave none behind',
    rule: 'exclusive',
    needs: ['batches'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const pushed = await pushSome(driver, 40);
      const seen: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const batches = await Promise.all(
          [driver, other, driver, other].map((client) => client.reserveMany(['default'], 4, 3_600, WORKER)),
        );
        for (const batch of batches) seen.push(...ids(batch));
      }
      // A batch may lose its races and be small: what it did not get is still there.
      seen.push(...ids(await drain(driver)));
      sameIds(seen, pushed, 'the jobs handed out, each once');
    },
  }),
];

async function pushSome(driver: DriverWith<'batches'>, count: number): Promise<number[]> {
  const pushed: number[] = [];
  for (let n = 0; n < count; n += 1) pushed.push(await driver.push(aJob({ payload: [n] })));
  return pushed;
}
