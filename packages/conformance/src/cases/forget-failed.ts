import { deepEqual, equal } from 'node:assert/strict';
import type { FailedSelection } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { inWords, NO_SELECTION, refused } from '../expectations.js';
import { aJob, drain, failedErrors, failOne, ids } from '../fixtures.js';

export const forgetFailed: readonly ConformanceCase[] = [
  aCase({
    id: 'forget-failed/one',
    name: 'Forgetting by id deletes that failure alone; an id that is not there deletes nothing',
    rule: 'forget-failed',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      for (const error of ['a', 'b', 'c']) {
        await failOne(driver, { error });
        clock.advance(1);
      }
      const [, middle] = await driver.failedRows(3);
      const which = { id: middle?.id ?? 0 };
      equal(await driver.forgetFailed({ id: which.id + 1_000 }), 0, 'an id that is not there');
      equal(await driver.forgetFailed(which), 1, 'the first time');
      equal(await driver.forgetFailed(which), 0, 'the second time');
      deepEqual(await failedErrors(driver), ['c', 'a'], 'what is left');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'forget-failed/strictly-before',
    name: 'Forgetting before a moment deletes what failed before it, and not what failed in that very second',
    rule: 'forget-failed',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      await failOne(driver, { error: 'old' });
      clock.advance(1);
      const moment = clock.now();
      await failOne(driver, { error: 'that second' });
      clock.advance(1);
      await failOne(driver, { error: 'young' });
      equal(await driver.forgetFailed({ before: moment }), 1, 'how many were deleted');
      deepEqual(await failedErrors(driver), ['young', 'that second'], 'what is left');
      equal(await driver.forgetFailed({ before: new Date(moment.getTime() + 1) }), 1, 'a millisecond later');
      deepEqual(await failedErrors(driver), ['young'], 'what is left a millisecond later');
    },
  }),
  aCase({
    id: 'forget-failed/all',
    name: 'Forgetting all empties the failed store, and leaves the jobs alone',
    rule: 'forget-failed',
    needs: ['reports'],
    run: async ({ driver }) => {
      const id = await driver.push(aJob({ queue: 'other' }));
      for (const error of ['a', 'b']) await failOne(driver, { error });
      equal(await driver.forgetFailed('all'), 2, 'how many were deleted');
      equal(await driver.forgetFailed('all'), 0, 'how many the second time');
      deepEqual(ids(await drain(driver, ['default', 'other'])), [id], 'the jobs');
    },
  }),
  aCase({
    id: 'forget-failed/no-selection',
    name: 'A selection in no form allowed is refused by forgetFailed, and deletes nothing',
    rule: 'selectors',
    needs: ['reports'],
    run: async ({ driver }) => {
      await failOne(driver, { error: 'no' });
      for (const which of NO_SELECTION) {
        // The cast: a caller without a type checker.
        const call = () => driver.forgetFailed(which as FailedSelection);
        await refused(call, 'invalid_selector', `forgetFailed(${inWords(which)})`);
      }
      equal(await driver.failedCount(), 1, 'failedCount');
    },
  }),
];
