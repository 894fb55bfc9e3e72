import { deepEqual, equal, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameIds, sameMoment } from '../expectations.js';
import { failedErrors, failOne, ids, lowestFirst } from '../fixtures.js';

export const failedRows: readonly ConformanceCase[] = [
  aCase({
    id: 'failed-rows/whole-row',
    name: 'Failed rows tell the whole row: when, queue, name, payload text, attempts and error',
    rule: 'failed-rows',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      clock.advance(0.25);
      await failOne(driver, { error: 'no such mailbox', job: { queue: 'mail', name: 'send', payload: ['é'] } });
      const rows = await driver.failedRows(10);
      const { id, failedAt, ...rest } = rows[0] ?? { id: null, failedAt: null };
      deepEqual(
        rest,
        { queue: 'mail', name: 'send', payloadJson: '["é"]', attempts: 1, error: 'no such mailbox' },
        'the row',
      );
      ok(Number.isSafeInteger(id), 'the id has to be a whole number');
      equal(typeof failedAt?.getTime, 'function', 'failedAt has to be a Date');
      sameMoment(failedAt, clock.second(), 'failedAt is now, rounded down');
    },
  }),
  aCase({
    id: 'failed-rows/newest-first',
    name: 'Failed rows come newest first, whatever the order of their ids',
    rule: 'failed-rows',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      for (const error of ['middle', 'oldest', 'newest']) {
        clock.advance({ middle: 0, oldest: -60, newest: 120 }[error] ?? 0);
        await failOne(driver, { error });
      }
      deepEqual(await failedErrors(driver), ['newest', 'middle', 'oldest'], 'the failed rows, by their errors');
    },
  }),
  aCase({
    id: 'failed-rows/ties-by-id',
    name: 'Of jobs that failed in the same second the one with the higher id comes first',
    rule: 'failed-rows',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      for (const error of ['first', 'second', 'third']) await failOne(driver, { error });
      clock.advance(0.5);
      await failOne(driver, { error: 'fourth' });
      const rows = ids(await driver.failedRows(4));
      deepEqual(rows, lowestFirst(...rows).toReversed(), 'the ids of the failed rows');
    },
  }),
  aCase({
    id: 'failed-rows/limit',
    name: 'Failed rows are never more than the limit; the count is of all',
    rule: 'failed-rows',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      equal(await driver.failedCount(), 0, 'failedCount of a fresh store');
      deepEqual(await driver.failedRows(10), [], 'failedRows of a fresh store');
      for (const error of ['a', 'b', 'c', 'd']) {
        await failOne(driver, { error });
        clock.advance(1);
      }
      deepEqual(await failedErrors(driver, 3), ['d', 'c', 'b'], 'three of four');
      deepEqual((await failedErrors(driver, 100)).length, 4, 'at most a hundred');
      equal(await driver.failedCount(), 4, 'failedCount');
    },
  }),
  aCase({
    id: 'failed-rows/ids-are-not-reused',
    name: 'The id of a failure that was forgotten or requeued names no later one',
    rule: 'failed-rows',
    needs: ['reports'],
    run: async ({ driver }) => {
      const seen: number[] = [];
      for (const end of ['forget', 'retry', 'stay']) {
        await failOne(driver, { error: end });
        const id = (await driver.failedRows(1))[0]?.id ?? 0;
        seen.push(id);
        if (end === 'forget') await driver.forgetFailed({ id });
        if (end === 'retry') await driver.retryFailed({ id }, 3);
      }
      sameIds([...new Set(seen)], seen, 'three failures have three ids');
    },
  }),
];
