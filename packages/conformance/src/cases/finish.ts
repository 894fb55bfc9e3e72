import { deepEqual, equal, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, only, reserveNone, reserveOne } from '../fixtures.js';

export const finish: readonly ConformanceCase[] = [
  aCase({
    id: 'finish/deleted-is-gone',
    name: 'A deleted job is gone for good: from the jobs, and from the failed store too',
    rule: 'delete',
    needs: ['jobRows', 'failedRows'],
    run: async ({ driver, clock, jobRows, failedRows }) => {
      await driver.push(aJob());
      equal(await driver.delete(await reserveOne(driver)), true, 'delete');
      clock.advance(86_400);
      await reserveNone(driver, 'a day later');
      deepEqual([(await jobRows()).length, (await failedRows()).length], [0, 0], 'rows in either store');
    },
  }),
  aCase({
    id: 'finish/failed-is-not-run-again',
    name: 'A failed job is not handed out again, and is not pending',
    rule: 'fail',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      equal(await driver.fail(await reserveOne(driver), 'no'), true, 'fail');
      clock.advance(86_400);
      equal(await driver.pending(), 0, 'pending');
      await reserveNone(driver, 'a day later');
    },
  }),
  aCase({
    id: 'finish/failed-moves',
    name: 'A failed job is in the failed store and no longer in the other, with what is known of it',
    rule: 'fail',
    needs: ['jobRows', 'failedRows'],
    run: async ({ driver, clock, jobRows, failedRows }) => {
      await driver.push(aJob({ queue: 'mail', name: 'send', payload: { a: ['é'] }, priority: 4, unique: 'k' }));
      await driver.release(await reserveOne(driver, { queue: 'mail' }), 0, 'first');
      clock.advance(42.7);
      await driver.fail(await reserveOne(driver, { queue: 'mail' }), 'second\nwith a stack');
      const { id, failedAt, ...rest } = only(await failedRows());
      deepEqual(
        rest,
        {
          queue: 'mail',
          name: 'send',
          payloadJson: '{"a":["é"]}',
          attempts: 2,
          error: 'second\nwith a stack',
        },
        'the failed row',
      );
      ok(Number.isSafeInteger(id), 'the id of a failed row is a whole number');
      sameMoment(failedAt, clock.second(), 'failed_at is now, rounded down');
      equal((await jobRows()).length, 0, 'rows among the jobs');
    },
  }),
  aCase({
    id: 'finish/each-failure-has-its-row',
    name: 'Each failure has a row of its own in the failed store',
    rule: 'fail',
    needs: ['failedRows'],
    run: async ({ driver, failedRows }) => {
      for (const error of ['a', 'b', 'c']) {
        await driver.push(aJob({ unique: 'k' }));
        await driver.fail(await reserveOne(driver), error);
      }
      const rows = await failedRows();
      deepEqual(rows.map(({ error }) => error).toSorted(), ['a', 'b', 'c'], 'the errors');
      equal(new Set(rows.map(({ id }) => id)).size, 3, 'the ids differ');
    },
  }),
  aCase({
    id: 'finish/fail-once',
    name: 'Of two clients that fail and delete the same claim at once one acts, and the job is in one place',
    rule: 'fail',
    needs: ['failedRows', 'jobRows'],
    run: async ({ driver, connect, failedRows, jobRows }) => {
      const other = await connect();
      for (let round = 0; round < 5; round += 1) {
        const before = (await failedRows()).length;
        await driver.push(aJob());
        const claim = await reserveOne(driver);
        const [failed, deleted, again] = await Promise.all([
          driver.fail(claim, 'no'),
          other.delete(claim),
          other.fail(claim, 'no'),
        ]);
        equal([failed, deleted, again].filter(Boolean).length, 1, 'how many of the three acted');
        equal((await failedRows()).length, before + (deleted ? 0 : 1), 'rows in the failed store');
        equal((await jobRows()).length, 0, 'rows among the jobs');
      }
    },
  }),
];
