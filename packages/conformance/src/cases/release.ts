import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, reserveNone, reserveOne, rowOf } from '../fixtures.js';

export const release: readonly ConformanceCase[] = [
  aCase({
    id: 'release/back-after-its-delay',
    name: 'A released job comes back after its delay, and not before',
    rule: 'release',
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob());
      equal(await driver.release(await reserveOne(driver), 90, 'no'), true, 'release');
      clock.advance(89);
      await reserveNone(driver, 'before the delay is over');
      clock.advance(1);
      equal((await reserveOne(driver)).id, id, 'the id reserved');
    },
  }),
  aCase({
    id: 'release/ends-the-claim',
    name: 'A release ends the claim at once, however long that had to go',
    rule: 'release',
    run: async ({ driver, connect }) => {
      await driver.push(aJob());
      await driver.release(await reserveOne(driver, { timeout: 3_600 }), 0, '');
      equal(await driver.pending(), 1, 'pending');
      await reserveOne(await connect());
    },
  }),
  aCase({
    id: 'release/keeps-attempts',
    name: 'A release leaves the attempts as the claim counted them',
    rule: 'release',
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const attempts of [1, 2, 3]) {
        const job = await reserveOne(driver);
        equal(job.attempts, attempts, 'attempts');
        await driver.release(job, 0, attempts === 2 ? '' : 'no');
      }
    },
  }),
  aCase({
    id: 'release/changes-nothing-else',
    name: 'A release clears the claim, sets the due time and the error, and changes nothing else',
    rule: 'release',
    needs: ['jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      const id = await driver.push(aJob({ queue: 'mail', priority: 4, unique: 'k' }));
      const job = await reserveOne(driver, { queue: 'mail' });
      const before = rowOf(await jobRows(), id);
      clock.advance(7);
      await driver.release(job, 30, 'no such mailbox');
      const after = rowOf(await jobRows(), id);
      deepEqual(
        after,
        {
          ...before,
          reservedUntil: null,
          reservedBy: null,
          lastError: 'no such mailbox',
          availableAt: after.availableAt,
        },
        'the row after the release',
      );
      sameMoment(after.availableAt, clock.second(30), 'available_at');
    },
  }),
  aCase({
    id: 'release/empty-error-overwrites',
    name: 'A release on purpose leaves no error: the one of the attempt before is overwritten',
    rule: 'release',
    needs: ['jobRows'],
    run: async ({ driver, jobRows }) => {
      const id = await driver.push(aJob());
      await driver.release(await reserveOne(driver), 0, 'no');
      equal(rowOf(await jobRows(), id).lastError, 'no', 'after a failure');
      await driver.release(await reserveOne(driver), 0, '');
      equal(rowOf(await jobRows(), id).lastError, '', 'after a release on purpose');
    },
  }),
];
