import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, ids, reserveOne, WORKER } from '../fixtures.js';

export const deleteMany: readonly ConformanceCase[] = [
  aCase({
    id: 'delete-many/all-held',
    name: 'A batch of claims that hold is deleted, nothing is lost, and the keys are free',
    rule: 'delete-many',
    needs: ['batches', 'jobRows'],
    run: async ({ driver, jobRows }) => {
      for (let count = 0; count < 5; count += 1) await driver.push(aJob({ unique: `k${count}`, priority: -count }));
      const jobs = await driver.reserveMany(['default'], 4, 60, WORKER);
      deepEqual(await driver.deleteMany(jobs), [], 'the claims lost');
      equal((await jobRows()).length, 1, 'rows left');
      notEqual(await driver.push(aJob({ unique: 'k0' })), jobs[0]?.id, 'the id of the next job of a key');
      equal(await driver.pending(), 2, 'pending');
    },
  }),
  aCase({
    id: 'delete-many/lost-ones',
    name: 'Claims that were taken over, released or finished are given back as lost, and those jobs are left alone',
    rule: 'delete-many',
    needs: ['batches'],
    run: async ({ driver, clock }) => {
      for (let count = 0; count < 4; count += 1) await driver.push(aJob());
      const takenOver = await reserveOne(driver, { timeout: 10 });
      const released = await reserveOne(driver);
      const deleted = await reserveOne(driver);
      const held = await reserveOne(driver);
      await driver.release(released, 600, 'no');
      await driver.delete(deleted);
      clock.advance(10);
      const holder = await reserveOne(driver);
      const lost = await driver.deleteMany([deleted, released, held, takenOver]);
      deepEqual(ids(lost), ids([deleted, released, takenOver]), 'the claims lost, in the order given');
      equal(await driver.delete(holder), true, 'the new holder’s delete');
      clock.advance(600);
      equal((await reserveOne(driver)).id, released.id, 'the job released');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'delete-many/gives-back-what-it-was-given',
    name: 'The claims given back as lost are the very ones that were handed in',
    rule: 'delete-many',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      const job = await reserveOne(driver);
      await driver.delete(job);
      const [lost] = await driver.deleteMany([job]);
      equal(lost, job, 'the lost claim has to be the same object');
    },
  }),
  aCase({
    id: 'delete-many/expired-is-not-lost',
    name: 'A claim in a batch that has expired but was not taken over is deleted',
    rule: 'expired',
    needs: ['batches'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const jobs = await driver.reserveMany(['default'], 1, 10, WORKER);
      clock.advance(60);
      deepEqual(await driver.deleteMany(jobs), [], 'the claims lost');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'delete-many/any-size',
    name: 'A batch of no claims loses none, and one of 1,200 is deleted in one go',
    rule: 'delete-many',
    needs: ['batches'],
    run: async ({ driver, clock }) => {
      deepEqual(await driver.deleteMany([]), [], 'of no claims');
      await driver.pushMany(Array.from({ length: 1_200 }, () => aJob()));
      const jobs = await driver.reserveMany(['default'], 1_200, 60, WORKER);
      equal(jobs.length, 1_200, 'how many were reserved');
      deepEqual(await driver.deleteMany(jobs), [], 'the claims lost');
      clock.advance(60);
      equal(await driver.pending(), 0, 'pending');
    },
  }),
];
