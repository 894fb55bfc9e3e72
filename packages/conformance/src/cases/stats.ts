import { deepEqual } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, reserveOne } from '../fixtures.js';

export const stats: readonly ConformanceCase[] = [
  aCase({
    id: 'stats/by-queue',
    name: 'Stats count what is pending, delayed and reserved in each queue, as JavaScript numbers',
    rule: 'stats',
    needs: ['reports'],
    run: async ({ driver }) => {
      for (let count = 0; count < 4; count += 1) await driver.push(aJob({ queue: 'mail' }));
      await reserveOne(driver, { queue: 'mail' });
      await driver.push(aJob({ queue: 'mail', delay: 60 }));
      await driver.push(aJob({ queue: 'mail', delay: 60 }));
      await driver.push(aJob({ queue: 'pdf' }));
      deepEqual(
        await driver.stats(),
        [
          { queue: 'mail', pending: 3, delayed: 2, reserved: 1, total: 6 },
          { queue: 'pdf', pending: 1, delayed: 0, reserved: 0, total: 1 },
        ],
        'stats',
      );
    },
  }),
  aCase({
    id: 'stats/expired-is-pending',
    name: 'A job whose claim has expired counts as pending, from the second of its deadline',
    rule: 'stats',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 60 });
      clock.advance(59);
      deepEqual(
        await driver.stats(),
        [{ queue: 'default', pending: 0, delayed: 0, reserved: 1, total: 1 }],
        'stats one second before the deadline',
      );
      clock.advance(1);
      deepEqual(
        await driver.stats(),
        [{ queue: 'default', pending: 1, delayed: 0, reserved: 0, total: 1 }],
        'stats at the deadline',
      );
    },
  }),
  aCase({
    id: 'stats/delayed-until-due',
    name: 'A job counts as delayed until the second it is due',
    rule: 'stats',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await driver.release(await reserveOne(driver), 60, '');
      clock.advance(59.999);
      deepEqual(
        await driver.stats(),
        [{ queue: 'default', pending: 0, delayed: 1, reserved: 0, total: 1 }],
        'stats one millisecond before it is due',
      );
      clock.advance(0.001);
      deepEqual(
        await driver.stats(),
        [{ queue: 'default', pending: 1, delayed: 0, reserved: 0, total: 1 }],
        'stats when it is due',
      );
    },
  }),
  aCase({
    id: 'stats/ordered-by-name',
    name: 'Queues are listed by name',
    rule: 'stats',
    needs: ['reports'],
    run: async ({ driver }) => {
      for (const queue of ['pdf', 'a1', 'mail', 'b', 'a10', 'a2']) await driver.push(aJob({ queue }));
      deepEqual(
        (await driver.stats()).map(({ queue }) => queue),
        ['a1', 'a10', 'a2', 'b', 'mail', 'pdf'],
        'the queues, in the order given',
      );
    },
  }),
  aCase({
    id: 'stats/no-empty-queues',
    name: 'A queue that holds nothing does not appear, though it once did, nor one with failed jobs alone',
    rule: 'stats',
    needs: ['reports'],
    run: async ({ driver }) => {
      deepEqual(await driver.stats(), [], 'of a fresh store');
      for (const queue of ['done', 'failed', 'left']) await driver.push(aJob({ queue }));
      await driver.delete(await reserveOne(driver, { queue: 'done' }));
      await driver.fail(await reserveOne(driver, { queue: 'failed' }), 'no');
      deepEqual(await driver.stats(), [{ queue: 'left', pending: 1, delayed: 0, reserved: 0, total: 1 }], 'stats');
    },
  }),
  aCase({
    id: 'stats/byte-for-byte',
    name: 'Queues whose names differ in case or accent alone are counted apart',
    rule: 'byte-for-byte',
    needs: ['reports'],
    run: async ({ driver }) => {
      for (const queue of ['mail', 'Mail', 'màil']) await driver.push(aJob({ queue }));
      deepEqual(
        (await driver.stats()).map(({ total }) => total),
        [1, 1, 1],
        'how many jobs each queue holds',
      );
    },
  }),
];
