import { deepEqual, equal, match } from 'node:assert/strict';
import type { NewJob, QueueErrorCode } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { refused, sameIds } from '../expectations.js';
import { aJob, drain, ids, reserveOne, rowOf, textOf } from '../fixtures.js';

const BAD: readonly (readonly [string, Partial<NewJob>, QueueErrorCode])[] = [
  ['a payload that JSON cannot hold', { payload: { id: 1n } }, 'payload_not_json'],
  ['a payload too large', { payload: ['x'.repeat(65_536)] }, 'payload_too_large'],
  ['a name too long', { name: textOf(191) }, 'invalid_text'],
  ['a queue without a character', { queue: '' }, 'invalid_text'],
  ['a delay that is no number', { delay: Number.NaN }, 'invalid_number'],
];

export const pushMany: readonly ConformanceCase[] = [
  aCase({
    id: 'push-many/ids-in-order',
    name: 'A batch is pushed as its jobs would be one by one, and gives their ids in the order given',
    rule: 'push-many',
    needs: ['batches', 'jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      clock.advance(0.25);
      const pushed = await driver.pushMany([
        aJob({ name: 'a', priority: 5, maxAttempts: 1 }),
        aJob({ name: 'b', queue: 'mail', delay: 60, unique: 'k' }),
        aJob({ name: 'c', payload: [1], delay: -5, maxAttempts: 0 }),
      ]);
      const rows = await jobRows();
      const stored = pushed.map((id) => {
        const { name, queue, priority, maxAttempts, unique, payloadJson, availableAt } = rowOf(rows, id);
        const due = (availableAt.getTime() - clock.second().getTime()) / 1000;
        return [name, queue, priority, maxAttempts, unique, payloadJson, due];
      });
      deepEqual(
        stored,
        [
          ['a', 'default', 5, 1, null, '{"invoiceId":7}', 0],
          ['b', 'mail', 0, 3, 'k', '{"invoiceId":7}', 61],
          ['c', 'default', 0, 1, null, '[1]', 0],
        ],
        'the rows stored',
      );
    },
  }),
  aCase({
    id: 'push-many/empty',
    name: 'A batch of no jobs gives no ids',
    rule: 'push-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      deepEqual(await driver.pushMany([]), [], 'the ids');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'push-many/all-or-nothing',
    name: 'One bad job in a batch stores none of it, and the refusal says which it was',
    rule: 'push-many',
    needs: ['batches', 'jobRows'],
    run: async ({ driver, jobRows }) => {
      for (const [what, bad, code] of BAD) {
        const call = () => driver.pushMany([aJob(), aJob(), aJob(bad), aJob()]);
        match((await refused(call, code, what)).message, /\b2\b/, `${what}: the message has to name the index, 2`);
        equal((await jobRows()).length, 0, `${what}: rows stored`);
      }
    },
  }),
  aCase({
    id: 'push-many/inner-duplicates',
    name: 'A key that is twice in a batch gives one job, at the place of the first, and the others are stored',
    rule: 'push-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      const keys = ['k1', 'k2', 'k1', null, 'k2', '', 'K1'];
      const [k1, k2, k1Again, none, k2Again, empty, other, ...rest] = await driver.pushMany(
        keys.map((unique, index) => aJob({ unique, name: `job-${index}` })),
      );
      deepEqual([k1Again, k2Again, rest], [k1, k2, []], 'the ids of the duplicates');
      equal(new Set([k1, k2, none, empty, other]).size, 5, 'how many jobs there are');
      const jobs = await drain(driver);
      deepEqual(
        jobs.map(({ name }) => name).toSorted(),
        ['job-0', 'job-1', 'job-3', 'job-5', 'job-6'],
        'the names of the jobs',
      );
    },
  }),
  aCase({
    id: 'push-many/keys-held-already',
    name: 'A key that is held already gives its holder’s id, changes nothing on it, and the rest is stored',
    rule: 'push-many',
    needs: ['batches'],
    run: async ({ driver, connect }) => {
      const holder = await (await connect()).push(aJob({ unique: 'k', name: 'holder' }));
      const [first, second, third] = await driver.pushMany([
        aJob({ name: 'a' }),
        aJob({ unique: 'k', name: 'b' }),
        aJob({ name: 'c' }),
      ]);
      equal(second, holder, 'the id of the job whose key is held');
      const jobs = await drain(driver);
      sameIds(ids(jobs), [holder, first ?? 0, third ?? 0], 'the jobs');
      deepEqual(jobs.map(({ name }) => name).toSorted(), ['a', 'c', 'holder'], 'their names');
    },
  }),
  aCase({
    id: 'push-many/any-size',
    name: 'A batch of 10,001 jobs, half of them duplicates, is stored in one go',
    rule: 'push-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      const jobs = Array.from({ length: 10_001 }, (_, index) =>
        aJob({ unique: index < 10_000 ? `k${index % 5_000}` : null, payload: { index } }),
      );
      const pushed = await driver.pushMany(jobs);
      equal(pushed.length, 10_001, 'how many ids were given');
      equal(new Set(pushed).size, 5_001, 'how many of them differ');
      deepEqual(pushed.slice(0, 5_000), pushed.slice(5_000, 10_000), 'the ids of the duplicates');
      equal(await driver.pending(), 5_001, 'pending');
    },
  }),
  aCase({
    id: 'push-many/large-is-all-or-nothing',
    name: 'A batch too large for one statement is all or nothing too',
    rule: 'push-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      const jobs = Array.from({ length: 6_000 }, (_, index) => aJob({ payload: index === 5_999 ? [-0] : [index] }));
      match(
        (await refused(() => driver.pushMany(jobs), 'payload_not_json', 'the last of 6,000')).message,
        /5999/,
        'the message has to name the index, 5999',
      );
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'push-many/race',
    name: 'Two clients that push the same keys at once, in opposite orders, store one job for each key',
    rule: 'unique-race',
    needs: ['batches'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
      const [mine, theirs] = await Promise.all([
        driver.pushMany(keys.map((unique) => aJob({ unique }))),
        other.pushMany(keys.toReversed().map((unique) => aJob({ unique }))),
      ]);
      deepEqual(mine, theirs.toReversed(), 'the ids each was given');
      equal(await driver.pending(), 20, 'pending');
      await reserveOne(driver);
    },
  }),
];
