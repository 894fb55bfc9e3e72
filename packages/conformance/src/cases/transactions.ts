import { deepEqual, equal, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { inWords, refused, sameIds } from '../expectations.js';
import { aJob, drain, ids, reserveNone, reserveOne } from '../fixtures.js';

/** What is no client of any store. */
const NO_CLIENT: readonly unknown[] = [null, undefined, {}, [], 'tx', 42, true, () => {}];

export const transactions: readonly ConformanceCase[] = [
  aCase({
    id: 'transactions/push-commits',
    name: 'A job pushed within a transaction is there when that commits, with the rows of the application',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      const transaction = await begin();
      await transaction.note('invoice 42');
      const id = await driver
        .within(transaction.tx)
        .push(aJob({ queue: 'mail', name: 'send', payload: { invoiceId: 42 } }));
      await transaction.commit();
      deepEqual(await notes(), ['invoice 42'], 'the rows of the application');
      const { queue, name, payloadJson, attempts, ...job } = await reserveOne(driver, { queue: 'mail' });
      deepEqual(
        { id: job.id, queue, name, payloadJson, attempts },
        { id, queue: 'mail', name: 'send', payloadJson: '{"invoiceId":42}', attempts: 1 },
        'the job reserved',
      );
    },
  }),
  aCase({
    id: 'transactions/push-rolls-back',
    name: 'A job pushed within a transaction was never there when that rolls back, and its key is free',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, notes, clock }) => {
      const transaction = await begin();
      await transaction.note('invoice 42');
      await driver.within(transaction.tx).push(aJob({ unique: 'k' }));
      await driver.within(transaction.tx).push(aJob());
      await transaction.rollback();
      deepEqual(await notes(), [], 'the rows of the application');
      clock.advance(3_600);
      equal(await driver.pending(), 0, 'pending');
      const id = await driver.push(aJob({ unique: 'k' }));
      deepEqual(ids(await drain(driver)), [id], 'the jobs after a push under the same key');
    },
  }),
  aCase({
    id: 'transactions/delay-from-the-push',
    name: 'A delay counts from the push, not from when its transaction began',
    rule: 'own-clock',
    needs: ['transactions'],
    run: async ({ driver, begin, clock }) => {
      const transaction = await begin();
      const within = driver.within(transaction.tx);
      await transaction.note('begun');
      clock.advance(30);
      await within.push(aJob({ delay: 10 }));
      clock.advance(5);
      await transaction.commit();
      clock.advance(4);
      await reserveNone(driver, 'nine seconds after the push');
      clock.advance(1);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'transactions/invisible-until-commit',
    name: 'A job pushed within a transaction is not pending for anybody else until that commits',
    rule: 'within',
    needs: ['transactions', 'concurrentReads'],
    run: async ({ driver, begin, connect }) => {
      const other = await connect();
      const transaction = await begin();
      await driver.within(transaction.tx).push(aJob());
      const before = [await driver.pending(), await other.pending()];
      await transaction.commit();
      deepEqual([before, await other.pending()], [[0, 0], 1], 'pending before the commit, and after');
    },
  }),
  aCase({
    id: 'transactions/push-many-commits',
    name: 'A batch pushed within a transaction is there when that commits, inner duplicates once',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      const transaction = await begin();
      const pushed = await driver
        .within(transaction.tx)
        .pushMany([aJob({ unique: 'k' }), aJob(), aJob({ unique: 'k' })]);
      await transaction.note('after the batch');
      await transaction.commit();
      equal(pushed[2], pushed[0], 'the id of the duplicate');
      sameIds(ids(await drain(driver)), pushed.slice(0, 2), 'the jobs');
      deepEqual(await notes(), ['after the batch'], 'the rows of the application');
    },
  }),
  aCase({
    id: 'transactions/push-many-rolls-back',
    name: 'A batch pushed within a transaction, of any size, was never there when that rolls back',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      const transaction = await begin();
      await transaction.note('before the batch');
      const jobs = Array.from({ length: 3_000 }, (_, index) => aJob({ unique: `k${index}` }));
      equal((await driver.within(transaction.tx).pushMany(jobs)).length, 3_000, 'how many ids were given');
      await transaction.note('after the batch');
      await transaction.rollback();
      deepEqual([await driver.pending(), await notes()], [0, []], 'pending, and the rows of the application');
    },
  }),
  aCase({
    id: 'transactions/duplicate-key-leaves-it-usable',
    name: 'A key that is held leaves the transaction usable: the holder’s id, and what follows commits',
    rule: 'tx-usable',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      const holder = await driver.push(aJob({ unique: 'committed' }));
      const transaction = await begin();
      await transaction.note('a');
      const first = await driver.within(transaction.tx).push(aJob({ unique: 'k' }));
      equal(
        await driver.within(transaction.tx).push(aJob({ unique: 'k' })),
        first,
        'a key pushed twice in the transaction',
      );
      equal(await driver.within(transaction.tx).push(aJob({ unique: 'committed' })), holder, 'a key held before it');
      deepEqual(
        await driver.within(transaction.tx).pushMany([aJob({ unique: 'committed' })]),
        [holder],
        'a held key in a batch',
      );
      await transaction.note('b');
      await transaction.commit();
      deepEqual(await notes(), ['a', 'b'], 'the rows of the application');
      sameIds(ids(await drain(driver)), [holder, first], 'the jobs');
    },
  }),
  aCase({
    id: 'transactions/bad-input-leaves-it-usable',
    name: 'A push that is refused leaves the transaction usable, and stores nothing',
    rule: 'tx-usable',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      const transaction = await begin();
      await transaction.note('a');
      const within = driver.within(transaction.tx);
      await refused(() => within.push(aJob({ payload: { id: 1n } })), 'payload_not_json', 'a bigint');
      await refused(() => within.push(aJob({ payload: ['x'.repeat(70_000)] })), 'payload_too_large', 'a large payload');
      await refused(() => within.push(aJob({ unique: 'a\0' })), 'invalid_text', 'a key with NUL');
      await refused(() => within.push(aJob({ delay: 0.5 })), 'invalid_number', 'half a second');
      await refused(() => within.pushMany([aJob(), aJob({ name: '' })]), 'invalid_text', 'a bad job in a batch');
      const id = await within.push(aJob());
      await transaction.note('b');
      await transaction.commit();
      deepEqual(await notes(), ['a', 'b'], 'the rows of the application');
      deepEqual(ids(await drain(driver)), [id], 'the jobs');
    },
  }),
  aCase({
    id: 'transactions/delete-commits',
    name: 'A job deleted within a transaction is done when that commits, with the rows of the application',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, notes, clock }) => {
      await driver.push(aJob({ unique: 'k' }));
      const claim = await reserveOne(driver);
      const transaction = await begin();
      await transaction.note('done');
      equal(await driver.within(transaction.tx).delete(claim), true, 'delete');
      await transaction.commit();
      equal(await driver.delete(claim), false, 'a second delete, after the commit');
      clock.advance(3_600);
      deepEqual([await driver.pending(), await notes()], [0, ['done']], 'pending, and the rows of the application');
      await driver.push(aJob({ unique: 'k' }));
      equal(await driver.pending(), 1, 'pending after a push under the same key');
    },
  }),
  aCase({
    id: 'transactions/delete-rolls-back',
    name: 'A job deleted within a transaction is still its holder’s when that rolls back',
    rule: 'within',
    needs: ['transactions'],
    run: async ({ driver, begin, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 60 });
      const transaction = await begin();
      equal(await driver.within(transaction.tx).delete(claim), true, 'delete');
      await transaction.rollback();
      await reserveNone(driver, 'while the claim lives');
      clock.advance(60);
      equal((await reserveOne(driver)).reclaimed, true, 'reclaimed when the claim has run out');
    },
  }),
  aCase({
    id: 'transactions/delete-lost',
    name: 'A delete within a transaction gives false where the claim was lost, and leaves the transaction usable',
    rule: 'fence',
    needs: ['transactions'],
    run: async ({ driver, begin, notes, clock }) => {
      await driver.push(aJob());
      const stale = await reserveOne(driver, { timeout: 10 });
      clock.advance(10);
      const holder = await reserveOne(driver);
      await driver.push(aJob({ queue: 'mail' }));
      const released = await reserveOne(driver, { queue: 'mail' });
      await driver.release(released, 0, 'no');
      const transaction = await begin();
      equal(await driver.within(transaction.tx).delete(stale), false, 'the stale delete');
      equal(await driver.within(transaction.tx).delete(released), false, 'the delete of a job that was released');
      await transaction.note('after it');
      await transaction.commit();
      deepEqual(await notes(), ['after it'], 'the rows of the application');
      equal(await driver.delete(holder), true, 'the new holder’s delete');
      equal((await reserveOne(driver, { queue: 'mail' })).id, released.id, 'the job released');
    },
  }),
  aCase({
    id: 'transactions/not-a-transaction',
    name: 'What is no transaction is refused, and nothing is stored',
    rule: 'tx-refused',
    needs: ['transactions'],
    run: async ({ driver, notTransactions }) => {
      ok(notTransactions.length > 0, 'the harness has to name what an application may pass by mistake');
      for (const value of [...notTransactions, ...NO_CLIENT]) {
        // Whether one is open on a connection, some drivers can tell at the first statement alone: either is early enough.
        const call = () => driver.within(value).push(aJob());
        await refused(
          call,
          'invalid_transaction',
          `within(${typeof value === 'object' ? 'an object' : inWords(value)})`,
        );
      }
      equal(await driver.pending(), 0, 'pending');
    },
  }),
];
