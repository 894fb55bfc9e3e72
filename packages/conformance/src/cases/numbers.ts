import { deepEqual, equal, ok } from 'node:assert/strict';
import type { NewJob } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { inWords, refused } from '../expectations.js';
import { aJob, ids, reserveNone, reserveOne, rowOf } from '../fixtures.js';

const NOT_WHOLE: readonly unknown[] = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1.5,
  2 ** 53,
  '3',
  '',
  null,
  undefined,
  true,
  1n,
  {},
  [],
  [1],
  new Date(0),
];

const LARGEST = Number.MAX_SAFE_INTEGER;
const INT32_MAX = 2 ** 31 - 1;

export const numbers: readonly ConformanceCase[] = [
  ...(['delay', 'priority', 'maxAttempts'] as const).map(pushedNumber),
  aCase({
    id: 'numbers/timeout-not-whole',
    name: 'A timeout that is no whole number is refused by reserve, and no job is claimed',
    rule: 'numbers',
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of NOT_WHOLE) {
        await refused(
          () => driver.reserve(['default'], value as number, 'w'),
          'invalid_number',
          `timeout ${inWords(value)}`,
        );
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'numbers/release-delay-not-whole',
    name: 'A delay that is no whole number is refused by release, and the claim still holds',
    rule: 'numbers',
    run: async ({ driver }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver);
      for (const value of NOT_WHOLE) {
        await refused(() => driver.release(claim, value as number, ''), 'invalid_number', `delay ${inWords(value)}`);
      }
      equal(await driver.pending(), 0, 'pending');
      equal(await driver.delete(claim), true, 'the claim still holds');
    },
  }),
  aCase({
    id: 'numbers/extend-timeout-not-whole',
    name: 'A timeout that is no whole number is refused by extend, and the claim ends when it would have',
    rule: 'numbers',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 60 });
      for (const value of NOT_WHOLE) {
        await refused(() => driver.extend(claim, value as number), 'invalid_number', `timeout ${inWords(value)}`);
      }
      clock.advance(59);
      await reserveNone(driver, 'before the claim ends');
      clock.advance(1);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'numbers/limit-not-whole',
    name: 'A limit that is no whole number is refused by reserveMany, and no job is claimed',
    rule: 'numbers',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of NOT_WHOLE) {
        const call = () => driver.reserveMany(['default'], value as number, 60, 'w');
        await refused(call, 'invalid_number', `limit ${inWords(value)}`);
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'numbers/batch-timeout-not-whole',
    name: 'A timeout that is no whole number is refused by reserveMany, and no job is claimed',
    rule: 'numbers',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of NOT_WHOLE) {
        const call = () => driver.reserveMany(['default'], 1, value as number, 'w');
        await refused(call, 'invalid_number', `timeout ${inWords(value)}`);
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'numbers/extend-many-timeout-not-whole',
    name: 'A timeout that is no whole number is refused by extendMany, and the claims end when they would have',
    rule: 'numbers',
    needs: ['batchLeases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 60 });
      for (const value of NOT_WHOLE) {
        const call = () => driver.extendMany([claim], value as number);
        await refused(call, 'invalid_number', `timeout ${inWords(value)}`);
      }
      clock.advance(59);
      await reserveNone(driver, 'before the claim ends');
      clock.advance(1);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'numbers/reports-not-whole',
    name: 'A limit, an id or a number of attempts that is no whole number is refused by the reports, and nothing changes',
    rule: 'numbers',
    needs: ['reports'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      await driver.fail(await reserveOne(driver), 'no');
      for (const value of NOT_WHOLE) {
        const what = inWords(value);
        await refused(() => driver.failedRows(value as number), 'invalid_number', `failedRows(${what})`);
        await refused(() => driver.retryFailed('all', value as number), 'invalid_number', `maxAttempts ${what}`);
        const which = { id: value as number };
        await refused(() => driver.retryFailed(which, 3), ['invalid_number', 'invalid_selector'], `retry id ${what}`);
        await refused(() => driver.forgetFailed(which), ['invalid_number', 'invalid_selector'], `forget id ${what}`);
      }
      equal(await driver.failedCount(), 1, 'failedCount');
    },
  }),
  aCase({
    id: 'numbers/delay-floor',
    name: 'A delay below 0 is raised to 0 by push and release',
    rule: 'numbers',
    run: async ({ driver, clock }) => {
      clock.advance(0.5);
      for (const delay of [-1, -LARGEST, -0]) {
        await driver.push(aJob({ delay }));
        await driver.release(await reserveOne(driver), delay, '');
        await driver.delete(await reserveOne(driver));
      }
    },
  }),
  aCase({
    id: 'numbers/delay-floor-stored',
    name: 'A delay below 0 does not let a job jump the queue: it is due now, not in the past',
    rule: 'numbers',
    needs: ['jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      const id = await driver.push(aJob({ delay: -3_600 }));
      equal(rowOf(await jobRows(), id).availableAt.toISOString(), clock.second().toISOString(), 'available_at');
    },
  }),
  aCase({
    id: 'numbers/max-attempts-floor',
    name: 'A maxAttempts below 1 is raised to 1',
    rule: 'numbers',
    run: async ({ driver }) => {
      for (const maxAttempts of [0, -5, -LARGEST]) {
        await driver.push(aJob({ maxAttempts }));
        equal((await reserveOne(driver)).maxAttempts, 1, `maxAttempts pushed as ${maxAttempts}`);
      }
    },
  }),
  aCase({
    id: 'numbers/limit-floor',
    name: 'A limit below 1 is raised to 1 by reserveMany',
    rule: 'numbers',
    needs: ['batches'],
    run: async ({ driver }) => {
      for (let count = 0; count < 4; count += 1) await driver.push(aJob());
      for (const limit of [0, -3, -LARGEST]) {
        equal((await driver.reserveMany(['default'], limit, 60, 'w')).length, 1, `jobs for limit ${limit}`);
      }
    },
  }),
  aCase({
    id: 'numbers/reports-floor',
    name: 'A limit below 1 is raised to 1 by failedRows, a maxAttempts by retryFailed',
    rule: 'numbers',
    needs: ['reports'],
    run: async ({ driver }) => {
      for (let count = 0; count < 2; count += 1) {
        await driver.push(aJob());
        await driver.fail(await reserveOne(driver), 'no');
      }
      for (const limit of [0, -3]) equal((await driver.failedRows(limit)).length, 1, `rows for limit ${limit}`);
      await driver.retryFailed('all', 0);
      equal((await reserveOne(driver)).maxAttempts, 1, 'maxAttempts requeued as 0');
    },
  }),
  aCase({
    id: 'numbers/largest-delay',
    name: 'The largest delay there is is taken, by push and release, and the job is not due within a lifetime',
    rule: 'numbers',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await driver.release(await reserveOne(driver, { timeout: LARGEST }), LARGEST, '');
      await driver.push(aJob({ delay: LARGEST }));
      clock.set('9999-12-31T23:59:58.000Z');
      equal(await driver.pending(), 0, 'pending at the end of the year 9999');
    },
  }),
  aCase({
    id: 'numbers/largest-priority',
    name: 'The largest and the smallest priority are taken, and sort at the ends',
    rule: 'numbers',
    run: async ({ driver }) => {
      const last = await driver.push(aJob({ priority: -LARGEST }));
      const middle = await driver.push(aJob({ priority: 1_000_000 }));
      const first = await driver.push(aJob({ priority: LARGEST }));
      const order = [await reserveOne(driver), await reserveOne(driver), await reserveOne(driver)];
      deepEqual(ids(order), [first, middle, last], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'numbers/largest-max-attempts',
    name: 'The largest maxAttempts there is is taken, and not made small',
    rule: 'numbers',
    run: async ({ driver }) => {
      await driver.push(aJob({ maxAttempts: LARGEST }));
      const { maxAttempts } = await reserveOne(driver);
      ok(maxAttempts >= INT32_MAX, `maxAttempts has to be at least 2^31 − 1; it is ${maxAttempts}`);
    },
  }),
  aCase({
    id: 'numbers/largest-timeout',
    name: 'The largest timeout there is makes a claim that does not end within a lifetime, the smallest an expired one',
    rule: 'numbers',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await reserveOne(driver, { timeout: -LARGEST });
      await reserveOne(driver, { timeout: LARGEST });
      clock.set('9999-12-31T23:59:58.000Z');
      await reserveNone(driver, 'at the end of the year 9999');
    },
  }),
];

function pushedNumber(field: 'delay' | 'priority' | 'maxAttempts'): ConformanceCase {
  return aCase({
    id: `numbers/${field === 'maxAttempts' ? 'max-attempts' : field}-not-whole`,
    name: `A ${field} that is no whole number is refused by push, and nothing is stored`,
    rule: 'numbers',
    needs: ['jobRows'],
    run: async ({ driver, jobRows }) => {
      for (const value of NOT_WHOLE) {
        // The cast: a caller without a type checker.
        const job = { ...aJob(), [field]: value } as NewJob;
        await refused(() => driver.push(job), 'invalid_number', `${field} ${inWords(value)}`);
        equal((await jobRows()).length, 0, `${field} ${inWords(value)}: nothing may be stored`);
      }
    },
  });
}
