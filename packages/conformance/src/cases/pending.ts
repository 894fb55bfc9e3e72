import { equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, reserveOne } from '../fixtures.js';

export const pending: readonly ConformanceCase[] = [
  aCase({
    id: 'pending/due-jobs',
    name: 'Pending counts the jobs that are due, as a JavaScript number, for every client alike',
    rule: 'pending',
    run: async ({ driver, connect }) => {
      for (let count = 1; count <= 3; count += 1) {
        await driver.push(aJob());
        equal(await driver.pending(), count, 'pending');
      }
      equal(await (await connect()).pending(), 3, 'another client’s count');
    },
  }),
  aCase({
    id: 'pending/not-delayed',
    name: 'A delayed job does not count until it is due, pushed or released',
    rule: 'pending',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await driver.release(await reserveOne(driver), 60, '');
      await driver.push(aJob({ delay: 60 }));
      equal(await driver.pending(), 0, 'before they are due');
      clock.advance(60);
      equal(await driver.pending(), 2, 'when they are due');
    },
  }),
  aCase({
    id: 'pending/not-held',
    name: 'A job under a live claim does not count',
    rule: 'pending',
    run: async ({ driver }) => {
      await driver.push(aJob());
      await driver.push(aJob());
      await reserveOne(driver);
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'pending/expired',
    name: 'A job whose claim has expired counts, from the very second of its deadline',
    rule: 'pending',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 60 });
      clock.advance(59);
      equal(await driver.pending(), 0, 'one second before the deadline');
      clock.advance(1);
      equal(await driver.pending(), 1, 'at the deadline');
    },
  }),
  aCase({
    id: 'pending/by-queue',
    name: 'Pending counts one queue, or all of them where none is named',
    rule: 'pending',
    run: async ({ driver }) => {
      for (const queue of ['a', 'a', 'b']) await driver.push(aJob({ queue }));
      equal(await driver.pending('a'), 2, 'of a');
      equal(await driver.pending('b'), 1, 'of b');
      equal(await driver.pending('c'), 0, 'of a queue that holds nothing');
      equal(await driver.pending(), 3, 'of all');
      equal(await driver.pending(null), 3, 'of all, as null');
    },
  }),
];
