import { deepEqual, equal } from 'node:assert/strict';
import type { NewJob, QueueSyncPush } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { INVALID, nothingStored, refused } from '../expectations.js';
import { aJob, drain, ids, reserveOne, textOf } from '../fixtures.js';

export const syncPush: readonly ConformanceCase[] = [
  aCase({
    id: 'sync-push/pushes-before-it-returns',
    name: 'A synchronous push gives the id itself, and the job is there',
    rule: 'sync-push',
    needs: ['syncPush'],
    run: async ({ driver }) => {
      const id = driver.pushSync(aJob({ queue: 'mail', maxAttempts: 7 }));
      equal(typeof id, 'number', 'what it gives');
      const job = await reserveOne(driver, { queue: 'mail' });
      deepEqual(
        [job.id, job.maxAttempts, job.payloadJson],
        [id, 7, '{"invoiceId":7}'],
        'the id, the attempts and the text of the job reserved',
      );
    },
  }),
  aCase({
    id: 'sync-push/unique',
    name: 'A synchronous push under a key that is held gives the holder’s id and stores nothing',
    rule: 'unique-held',
    needs: ['syncPush'],
    run: async ({ driver }) => {
      const holder = await driver.push(aJob({ unique: 'k' }));
      equal(driver.pushSync(aJob({ unique: 'k' })), holder, 'the id');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'sync-push/throws',
    name: 'A synchronous push that is refused throws, and stores nothing',
    rule: 'sync-push',
    needs: ['syncPush'],
    run: async ({ driver }) => {
      const bad: readonly Partial<NewJob>[] = [{ name: textOf(191) }, { delay: 0.5 }, { queue: {} as string }];
      for (const what of bad) {
        await refused(() => settledSync(driver, what), INVALID, `pushSync with a bad ${Object.keys(what).join()}`);
      }
      await refused(() => settledSync(driver, { payload: [-0] }), 'payload_not_json', 'pushSync of minus zero');
      await nothingStored(driver, 'refused synchronous pushes');
    },
  }),
  aCase({
    id: 'sync-push/in-the-open-transaction',
    name: 'A synchronous push is part of the transaction open on the application’s connection: it goes with it, and stays with it',
    rule: 'sync-push',
    needs: ['syncPush', 'transactions'],
    run: async ({ driver, begin, notes }) => {
      const lost = await begin();
      await lost.note('lost');
      driver.pushSync(aJob());
      await lost.rollback();
      deepEqual([await driver.pending(), await notes()], [0, []], 'after a rollback');
      const kept = await begin();
      const id = driver.pushSync(aJob());
      await kept.note('kept');
      await kept.commit();
      deepEqual([ids(await drain(driver)), await notes()], [[id], ['kept']], 'after a commit');
    },
  }),
];

/** What a synchronous push gives before anything is awaited. A promise that rejects is no throw: it counts as an answer. */
function settledSync(driver: QueueSyncPush, what: Partial<NewJob>): string {
  const answer: unknown = driver.pushSync(aJob(what));
  if (answer instanceof Promise) answer.catch(() => {});
  return typeof answer;
}
