import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, aRow, reserveNone, reserveOne, rowOf } from '../fixtures.js';

export const claims: readonly ConformanceCase[] = [
  aCase({
    id: 'claims/held-by-one',
    name: 'A job under a live claim is handed to nobody else, by no client',
    rule: 'exclusive',
    run: async ({ driver, connect }) => {
      await driver.push(aJob());
      await reserveOne(driver);
      await reserveNone(driver, 'the client that holds the job');
      await reserveNone(await connect(), 'another client');
    },
  }),
  aCase({
    id: 'claims/reserving-is-the-attempt',
    name: 'Reserving is the attempt: the first claim reads 1, each later one reads one more',
    rule: 'attempt',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      for (let attempt = 1; attempt <= 4; attempt += 1) {
        const job = await reserveOne(driver, { timeout: 10 });
        equal(job.attempts, attempt, 'attempts');
        // One attempt ends by a release, the next by a worker's death: both have counted.
        if (attempt % 2 === 0) await driver.release(job, 0, 'no');
        else clock.advance(10);
      }
    },
  }),
  aCase({
    id: 'claims/deadline-equal-to-now',
    name: 'A claim whose deadline is now has expired; one second earlier it has not',
    rule: 'claim-expires',
    run: async ({ driver, clock, connect }) => {
      const other = await connect();
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 60 });
      clock.advance(59);
      await reserveNone(other, 'one second before the deadline');
      clock.advance(1);
      await reserveOne(other);
    },
  }),
  aCase({
    id: 'claims/max-attempts-is-the-workers',
    name: 'An expired claim is handed out again though maxAttempts is used up: ending poison jobs is the worker’s part',
    rule: 'claim-expires',
    run: async ({ driver, clock }) => {
      await driver.push(aJob({ maxAttempts: 1 }));
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        equal((await reserveOne(driver, { timeout: 10 })).attempts, attempt, 'attempts');
        clock.advance(10);
      }
    },
  }),
  aCase({
    id: 'claims/released-past-max-attempts',
    name: 'A released job is handed out again however high its attempts are',
    rule: 'claim-expires',
    run: async ({ driver }) => {
      await driver.push(aJob({ maxAttempts: 1 }));
      for (let attempt = 1; attempt <= 12; attempt += 1) {
        const job = await reserveOne(driver);
        equal(job.attempts, attempt, 'attempts');
        await driver.release(job, 0, '');
      }
    },
  }),
  aCase({
    id: 'claims/reclaimed',
    name: 'A job taken over from an expired claim says so, whichever client held it',
    rule: 'claim-expires',
    run: async ({ driver, clock, connect }) => {
      const other = await connect();
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 10 });
      clock.advance(15);
      equal((await reserveOne(other)).reclaimed, true, 'reclaimed');
    },
  }),
  aCase({
    id: 'claims/first-is-not-reclaimed',
    name: 'The first claim on a job is no takeover, late as it may come',
    rule: 'claim-expires',
    run: async ({ driver, clock }) => {
      await driver.push(aJob({ delay: 5 }));
      clock.advance(3_600);
      equal((await reserveOne(driver)).reclaimed, false, 'reclaimed');
    },
  }),
  aCase({
    id: 'claims/released-is-not-reclaimed',
    name: 'A job that was released is not reclaimed, not even where its claim had expired by then',
    rule: 'claim-expires',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const job = await reserveOne(driver, { timeout: 10 });
      clock.advance(20);
      await driver.release(job, 0, 'no');
      equal((await reserveOne(driver)).reclaimed, false, 'reclaimed');
    },
  }),
  aCase({
    id: 'claims/dead-worker',
    name: 'A job left behind by a dead worker is handed out once its deadline has passed, whoever that worker was',
    rule: 'claim-expires',
    needs: ['insertRow'],
    run: async ({ driver, clock, insertRow }) => {
      const now = clock.now();
      const reservedUntil = clock.second(30);
      const id = await insertRow(
        aRow(now, { attempts: 2, maxAttempts: 3, priority: 0, lastError: 'no', reservedUntil, reservedBy: 'gone:1' }),
      );
      clock.advance(29);
      await reserveNone(driver, 'before the deadline');
      clock.advance(1);
      const { attempts, reclaimed } = await reserveOne(driver);
      deepEqual({ id, attempts, reclaimed }, { id, attempts: 3, reclaimed: true }, 'the job handed out');
    },
  }),
  aCase({
    id: 'claims/takeover-starts-anew',
    name: 'A takeover has a deadline of its own, counted from itself',
    rule: 'claim-length',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 100 });
      clock.advance(150);
      await reserveOne(driver, { timeout: 10 });
      clock.advance(9);
      await reserveNone(driver, 'before the new deadline');
      clock.advance(1);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'claims/timeout-zero',
    name: 'A timeout of 0 makes a claim that has already expired',
    rule: 'zero-is-now',
    run: async ({ driver, clock }) => {
      clock.advance(0.999);
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 0 });
      const { attempts, reclaimed } = await reserveOne(driver);
      deepEqual({ attempts, reclaimed }, { attempts: 2, reclaimed: true }, 'the second claim');
    },
  }),
  aCase({
    id: 'claims/timeout-below-zero',
    name: 'A timeout below 0 makes a claim that has already expired',
    rule: 'zero-is-now',
    run: async ({ driver, clock }) => {
      clock.advance(0.5);
      await driver.push(aJob());
      await reserveOne(driver, { timeout: -60 });
      const { attempts, reclaimed } = await reserveOne(driver);
      deepEqual({ attempts, reclaimed }, { attempts: 2, reclaimed: true }, 'the second claim');
    },
  }),
  aCase({
    id: 'claims/expired-still-finishable-at-zero',
    name: 'A claim of 0 seconds is a claim: its holder may finish the job',
    rule: 'expired',
    run: async ({ driver }) => {
      await driver.push(aJob());
      equal(await driver.delete(await reserveOne(driver, { timeout: 0 })), true, 'delete');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'claims/changes-nothing-else',
    name: 'A claim sets the deadline, the worker and the attempt, and nothing else',
    rule: 'claim-columns',
    needs: ['jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      const id = await driver.push(aJob({ queue: 'mail', priority: 4, unique: 'k' }));
      await driver.release(await reserveOne(driver, { queue: 'mail' }), 30, 'no');
      const before = rowOf(await jobRows(), id);
      clock.advance(45);
      await reserveOne(driver, { queue: 'mail', timeout: 60, worker: 'host:1' });
      const after = rowOf(await jobRows(), id);
      deepEqual(
        after,
        { ...before, attempts: 2, reservedBy: 'host:1', reservedUntil: after.reservedUntil },
        'the row after the claim',
      );
      sameMoment(after.reservedUntil, clock.second(60), 'reserved_until');
    },
  }),
];
