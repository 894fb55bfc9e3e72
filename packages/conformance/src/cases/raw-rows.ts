import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, aRow, only, reserveNone, reserveOne } from '../fixtures.js';

export const rawRows: readonly ConformanceCase[] = [
  aCase({
    id: 'raw-rows/required-columns',
    name: 'A row with no more than the required columns is a job like any other: its queue is default, its attempts three',
    rule: 'bare-row',
    needs: ['insertRow', 'columnDefaults'],
    run: async ({ driver, clock, insertRow }) => {
      const id = await insertRow(aRow(clock.now()));
      equal(await driver.pending('default'), 1, 'pending');
      const { payload, payloadJson, handle, ...rest } = await reserveOne(driver);
      deepEqual(
        rest,
        { id, queue: 'default', name: 'send-invoice', attempts: 1, maxAttempts: 3, reclaimed: false },
        'the job reserved',
      );
      deepEqual(
        [payload, payloadJson, typeof handle],
        [{ invoiceId: 7 }, '{"invoiceId":7}', 'string'],
        'its payload and its handle',
      );
    },
  }),
  aCase({
    id: 'raw-rows/whole-life',
    name: 'A row written by another hand is released, taken over and failed as if it had been pushed',
    rule: 'bare-row',
    needs: ['insertRow', 'failedRows'],
    run: async ({ driver, clock, insertRow, failedRows }) => {
      await insertRow(aRow(clock.now(), { queue: 'mail', priority: 3 }));
      equal(await driver.release(await reserveOne(driver, { queue: 'mail' }), 30, 'no'), true, 'release');
      await reserveNone(driver, 'before its delay is over', ['mail']);
      clock.advance(30);
      const stale = await reserveOne(driver, { queue: 'mail', timeout: 10 });
      clock.advance(10);
      const job = await reserveOne(driver, { queue: 'mail' });
      deepEqual([job.attempts, job.reclaimed], [3, true], 'attempts and reclaimed');
      equal(await driver.delete(stale), false, 'the stale delete');
      equal(await driver.fail(job, 'no'), true, 'fail');
      equal(only(await failedRows()).attempts, 3, 'attempts in the failed store');
    },
  }),
  aCase({
    id: 'raw-rows/holds-its-key',
    name: 'A row written by another hand holds its unique key',
    rule: 'unique-held',
    needs: ['insertRow'],
    run: async ({ driver, clock, insertRow }) => {
      const id = await insertRow(aRow(clock.now(), { unique: 'k' }));
      equal(await driver.push(aJob({ unique: 'k' })), id, 'the id pushed under the same key');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'raw-rows/large-ids',
    name: 'Ids up to 2^53 − 1 are claimed, released, failed and deleted as they are',
    rule: 'large-ids',
    needs: ['insertRow', 'chosenIds', 'failedRows'],
    run: async ({ driver, clock, insertRow, failedRows }) => {
      for (const id of [2 ** 31 + 5, 2 ** 32 + 7, Number.MAX_SAFE_INTEGER]) {
        const queue = `q${id}`;
        await insertRow(aRow(clock.now(), { id, queue }));
        const job = await reserveOne(driver, { queue });
        equal(job.id, id, 'the id reserved');
        equal(await driver.release(job, 0, ''), true, `release of ${id}`);
        equal(await driver.delete(await reserveOne(driver, { queue })), true, `delete of ${id}`);
      }
      await insertRow(aRow(clock.now(), { id: 2 ** 31 + 6 }));
      equal(await driver.fail(await reserveOne(driver), 'no'), true, 'fail');
      equal(only(await failedRows()).error, 'no', 'the failed row');
    },
  }),
  aCase({
    id: 'raw-rows/ids-beyond-a-number',
    name: 'A row whose id a JavaScript number cannot hold is left alone: no job is handed out under a wrong id',
    rule: 'large-ids',
    needs: ['insertRow', 'chosenIds', 'wideIds'],
    run: async ({ driver, clock, insertRow }) => {
      await insertRow(aRow(clock.now(), { id: 2n ** 53n + 11n, queue: 'default', priority: 5 }));
      await insertRow(aRow(clock.now(), { id: 7 }));
      equal((await reserveOne(driver)).id, 7, 'the id reserved');
      await reserveNone(driver, 'with the row beyond alone');
    },
  }),
];
