import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameIds, sameMoment } from '../expectations.js';
import { aJob, drain, ids, reserveNone, reserveOne, rowOf, WORKER } from '../fixtures.js';

export const leases: readonly ConformanceCase[] = [
  aCase({
    id: 'leases/extended-from-now',
    name: 'An extended claim ends its timeout after the extension, not after the claim or the old deadline',
    rule: 'extend',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 60 });
      clock.advance(50);
      equal(await driver.extend(claim, 100), true, 'extend');
      clock.advance(99);
      await reserveNone(driver, 'one second before the new deadline');
      clock.advance(1);
      equal((await reserveOne(driver)).reclaimed, true, 'reclaimed at the new deadline');
    },
  }),
  aCase({
    id: 'leases/shortened',
    name: 'A claim may be extended to an earlier deadline than it had',
    rule: 'extend',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      equal(await driver.extend(await reserveOne(driver, { timeout: 3_600 }), 10), true, 'extend');
      clock.advance(9);
      await reserveNone(driver, 'one second before the new deadline');
      clock.advance(1);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'leases/revived',
    name: 'A claim that has expired, but that nobody took over, is alive again when it is extended',
    rule: 'expired',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 10 });
      clock.advance(500);
      equal(await driver.extend(claim, 60), true, 'extend');
      await reserveNone(driver, 'while the claim is alive again');
      equal(await driver.delete(claim), true, 'delete');
    },
  }),
  aCase({
    id: 'leases/never-early',
    name: 'An extension that begins inside a second does not end early',
    rule: 'claim-length',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      clock.advance(0.95);
      await driver.push(aJob());
      await driver.extend(await reserveOne(driver), 10);
      clock.set(clock.second(11));
      clock.advance(-0.001);
      await reserveNone(driver, 'one millisecond before the deadline');
      clock.advance(0.001);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'leases/zero',
    name: 'An extension of 0 seconds or less ends the claim now',
    rule: 'zero-is-now',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      clock.advance(0.999);
      await driver.push(aJob());
      for (const timeout of [0, -30]) {
        equal(await driver.extend(await reserveOne(driver), timeout), true, `extend by ${timeout}`);
      }
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'leases/changes-nothing-else',
    name: 'An extension moves the deadline and changes nothing else, the attempt least of all',
    rule: 'extend',
    needs: ['leases', 'jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      const id = await driver.push(aJob({ unique: 'k', priority: 3 }));
      const claim = await reserveOne(driver);
      const before = rowOf(await jobRows(), id);
      clock.advance(30);
      await driver.extend(claim, 300);
      const after = rowOf(await jobRows(), id);
      deepEqual(after, { ...before, reservedUntil: after.reservedUntil }, 'the row after the extension');
      sameMoment(after.reservedUntil, clock.second(300), 'reserved_until');
    },
  }),
  aCase({
    id: 'leases/only-its-own',
    name: 'An extension moves the deadline of no other job',
    rule: 'extend',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await driver.push(aJob());
      const first = await reserveOne(driver, { timeout: 10 });
      const second = await reserveOne(driver, { timeout: 10 });
      await driver.extend(first, 60);
      clock.advance(10);
      equal((await reserveOne(driver)).id, second.id, 'the job whose claim was not extended');
      await reserveNone(driver, 'with the other one held');
    },
  }),
  aCase({
    id: 'leases/batch',
    name: 'A batch of claims is extended at once, each from now, and does not end early',
    rule: 'extend-many',
    needs: ['batchLeases', 'batches'],
    run: async ({ driver, clock }) => {
      for (let count = 0; count < 3; count += 1) await driver.push(aJob());
      const jobs = await driver.reserveMany(['default'], 3, 60, WORKER);
      clock.advance(50.05);
      deepEqual(await driver.extendMany(jobs, 100), [], 'the claims lost');
      clock.set(clock.second(101));
      clock.advance(-0.001);
      await reserveNone(driver, 'one millisecond before the new deadline');
      clock.advance(0.001);
      sameIds(ids(await drain(driver)), ids(jobs), 'the jobs taken over at the new deadline');
    },
  }),
  aCase({
    id: 'leases/batch-lost-ones',
    name: 'Claims that were taken over, released or finished are given back as lost; the rest of the batch is extended',
    rule: 'extend-many',
    needs: ['batchLeases'],
    run: async ({ driver, clock }) => {
      for (let count = 0; count < 4; count += 1) await driver.push(aJob());
      const takenOver = await reserveOne(driver, { timeout: 10 });
      const released = await reserveOne(driver, { timeout: 900 });
      const deleted = await reserveOne(driver);
      const held = await reserveOne(driver, { timeout: 15 });
      await driver.release(released, 600, 'no');
      await driver.delete(deleted);
      clock.advance(10);
      const holder = await reserveOne(driver, { timeout: 60 });
      const lost = await driver.extendMany([deleted, released, held, takenOver], 300);
      deepEqual(ids(lost), ids([deleted, released, takenOver]), 'the claims lost, in the order given');
      clock.advance(59);
      equal(await driver.pending(), 0, 'pending before the new holder’s deadline');
      clock.advance(1);
      equal((await reserveOne(driver)).id, holder.id, 'the job due at the new holder’s deadline');
      await reserveNone(driver, 'with the extended job held and the released one delayed');
    },
  }),
  aCase({
    id: 'leases/batch-gives-back-what-it-was-given',
    name: 'The claims that an extension gives back as lost are the very ones that were handed in; of none it loses none',
    rule: 'extend-many',
    needs: ['batchLeases'],
    run: async ({ driver }) => {
      deepEqual(await driver.extendMany([], 60), [], 'of no claims');
      await driver.push(aJob());
      const job = await reserveOne(driver);
      await driver.delete(job);
      const [lost] = await driver.extendMany([job], 60);
      equal(lost, job, 'the lost claim has to be the same object');
    },
  }),
  aCase({
    id: 'leases/batch-revives',
    name: 'A claim in a batch that has expired, but that nobody took over, is alive again',
    rule: 'expired',
    needs: ['batchLeases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const job = await reserveOne(driver, { timeout: 10 });
      clock.advance(60);
      deepEqual(await driver.extendMany([job], 60), [], 'the claims lost');
      await reserveNone(driver, 'while the claim is alive again');
    },
  }),
];
