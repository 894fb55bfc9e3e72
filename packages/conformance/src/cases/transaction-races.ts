import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, begun, drain, ids, reserveOne } from '../fixtures.js';

/**
 * What happens beside an open transaction. Calls of others are begun and not awaited while it is open: some stores let
 * them through, others make them wait for its end.
 */
export const transactionRaces: readonly ConformanceCase[] = [
  aCase({
    id: 'transaction-races/plain-push-is-apart',
    name: 'A plain push while a transaction is open is no part of it: it stays when that rolls back',
    rule: 'plain-apart',
    needs: ['transactions'],
    run: async ({ driver, begin }) => {
      const transaction = await begin();
      const inside = await driver.within(transaction.tx).push(aJob());
      const outside = await begun(driver.push(aJob({ queue: 'mail' })));
      await transaction.rollback();
      const id = await outside.answer;
      notEqual(await driver.pending('mail'), 0, 'pending after the rollback');
      deepEqual(ids(await drain(driver, ['default', 'mail'])), [id], `the jobs (the one inside was ${inside})`);
    },
  }),
  aCase({
    id: 'transaction-races/plain-calls-are-apart',
    name: 'Jobs finished by plain calls while a transaction is open stay finished when that rolls back',
    rule: 'plain-apart',
    needs: ['transactions'],
    run: async ({ driver, begin, clock }) => {
      for (let count = 0; count < 3; count += 1) await driver.push(aJob());
      const [first, second, third] = [await reserveOne(driver), await reserveOne(driver), await reserveOne(driver)];
      const transaction = await begin();
      await transaction.note('unrelated');
      const done = await begun(
        Promise.all([driver.delete(first), driver.fail(second, 'no'), driver.release(third, 0, 'no')]),
      );
      await transaction.rollback();
      deepEqual(await done.answer, [true, true, true], 'delete, fail and release');
      clock.advance(3_600);
      deepEqual(ids(await drain(driver)), [third.id], 'the jobs due');
    },
  }),
  aCase({
    id: 'transaction-races/holder-rolls-back',
    name: 'A push that waits for the holder of its key stores its job when that holder rolls back',
    rule: 'unique-race',
    needs: ['transactions'],
    run: async ({ driver, begin, connect }) => {
      const other = await connect();
      const transaction = await begin();
      await driver.within(transaction.tx).push(aJob({ unique: 'k', name: 'rolled-back' }));
      const waiting = await begun(other.push(aJob({ unique: 'k', name: 'stored' })));
      await transaction.rollback();
      const id = await waiting.answer;
      deepEqual(
        (await drain(driver)).map((job) => [job.id, job.name]),
        [[id, 'stored']],
        'the jobs: ids and names',
      );
    },
  }),
  aCase({
    id: 'transaction-races/holder-commits',
    name: 'A push that waits for the holder of its key gives that holder’s id when it commits',
    rule: 'unique-race',
    needs: ['transactions'],
    run: async ({ driver, begin, connect }) => {
      const other = await connect();
      const transaction = await begin();
      const holder = await driver.within(transaction.tx).push(aJob({ unique: 'k', name: 'holder' }));
      const waiting = await begun(other.push(aJob({ unique: 'k', name: 'late' })));
      await transaction.commit();
      equal(await waiting.answer, holder, 'the id of the push that waited');
      deepEqual(
        (await drain(driver)).map((job) => [job.id, job.name]),
        [[holder, 'holder']],
        'the jobs: ids and names',
      );
    },
  }),
  aCase({
    id: 'transaction-races/two-transactions',
    name: 'Of two transactions that push one key the second waits: for a job of its own, or for the first one’s id',
    rule: 'unique-race',
    needs: ['transactions', 'concurrentTransactions'],
    run: async ({ driver, begin }) => {
      for (const end of ['rollback', 'commit'] as const) {
        const [first, second] = [await begin(), await begin()];
        const holder = await driver.within(first.tx).push(aJob({ unique: end, name: 'first' }));
        const waiting = await begun(driver.within(second.tx).push(aJob({ unique: end, name: 'second' })));
        await first[end]();
        const id = await waiting.answer;
        await second.commit();
        const expected = end === 'commit' ? [holder, 'first'] : [id, 'second'];
        equal(id, expected[0], `the id given to the second, after a ${end} of the first`);
        deepEqual(
          (await drain(driver)).map((job) => [job.id, job.name]),
          [expected],
          `the jobs after a ${end}`,
        );
      }
    },
  }),
  aCase({
    id: 'transaction-races/delete-holds-the-job',
    name: 'A job deleted within an open transaction cannot be finished by anybody else once that commits',
    rule: 'fence',
    needs: ['transactions'],
    run: async ({ driver, begin, connect }) => {
      const other = await connect();
      await driver.push(aJob());
      const claim = await reserveOne(driver);
      const transaction = await begin();
      equal(await driver.within(transaction.tx).delete(claim), true, 'the delete within');
      const late = await begun(other.release(claim, 0, 'no'));
      await transaction.commit();
      equal(await late.answer, false, 'the release that was begun meanwhile');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
];
