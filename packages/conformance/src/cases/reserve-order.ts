import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, drain, ids, lowestFirst, reserveNone, reserveOne, WORKER } from '../fixtures.js';

export const reserveOrder: readonly ConformanceCase[] = [
  aCase({
    id: 'reserve-order/queues-as-given',
    name: 'Queues are emptied in the order given, whatever the priority and age of the jobs in the later ones',
    rule: 'queue-order',
    run: async ({ driver, clock }) => {
      const old = await driver.push(aJob({ queue: 'a-low', priority: 9 }));
      clock.advance(60);
      const first = await driver.push(aJob({ queue: 'z-high' }));
      const second = await driver.push(aJob({ queue: 'z-high', priority: -1 }));
      deepEqual(ids(await drain(driver, ['z-high', 'a-low'])), [first, second, old], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/next-queue-behind-delayed',
    name: 'A queue whose jobs are all delayed is passed over for the next one',
    rule: 'queue-order',
    run: async ({ driver }) => {
      await driver.push(aJob({ queue: 'high', delay: 60 }));
      const id = await driver.push(aJob({ queue: 'low' }));
      equal((await driver.reserve(['high', 'low'], 60, WORKER))?.id, id, 'the id reserved');
    },
  }),
  aCase({
    id: 'reserve-order/next-queue-behind-held',
    name: 'A queue whose jobs are all held is passed over for the next one',
    rule: 'queue-order',
    run: async ({ driver }) => {
      await driver.push(aJob({ queue: 'high' }));
      await reserveOne(driver, { queue: 'high' });
      const id = await driver.push(aJob({ queue: 'low' }));
      equal((await driver.reserve(['high', 'empty', 'low'], 60, WORKER))?.id, id, 'the id reserved');
    },
  }),
  aCase({
    id: 'reserve-order/only-queues-named',
    name: 'Nothing is reserved from a queue that is not named, and nothing at all from no queues',
    rule: 'queue-order',
    run: async ({ driver }) => {
      await driver.push(aJob({ queue: 'mail' }));
      await reserveNone(driver, 'reserving from other queues', ['mai', 'mail2', 'default', '%', 'm*']);
      await reserveNone(driver, 'reserving from no queues', []);
    },
  }),
  aCase({
    id: 'reserve-order/queue-named-twice',
    name: 'A queue named twice is as good as named once',
    rule: 'queue-order',
    run: async ({ driver }) => {
      const first = await driver.push(aJob({ queue: 'a' }));
      const second = await driver.push(aJob({ queue: 'b' }));
      deepEqual(ids(await drain(driver, ['a', 'a', 'b', 'a'])), [first, second], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/priority',
    name: 'Within a queue the highest priority goes first, below zero too, whatever the order of the pushes',
    rule: 'job-order',
    run: async ({ driver }) => {
      const pushed: (readonly [number, number])[] = [];
      for (const priority of [0, -10, 10, 9, -1, 100]) {
        pushed.push([priority, await driver.push(aJob({ priority }))]);
      }
      const expected = pushed.toSorted(([a], [b]) => b - a).map(([, id]) => id);
      deepEqual(ids(await drain(driver)), expected, 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/priority-before-age',
    name: 'A job of higher priority goes before one that has been due for longer',
    rule: 'job-order',
    run: async ({ driver, clock }) => {
      const old = await driver.push(aJob());
      const urgent = await driver.push(aJob({ priority: 1, delay: 60 }));
      clock.advance(3_600);
      deepEqual(ids(await drain(driver)), [urgent, old], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/delayed-priority-holds-nothing-up',
    name: 'A delayed job of higher priority does not hold up the others',
    rule: 'due',
    run: async ({ driver, clock }) => {
      const urgent = await driver.push(aJob({ priority: 5, delay: 60 }));
      const plain = await driver.push(aJob());
      equal((await reserveOne(driver, { timeout: 3_600 })).id, plain, 'the id reserved first');
      await reserveNone(driver, 'before the other is due');
      clock.advance(60);
      equal((await reserveOne(driver)).id, urgent, 'the id reserved once it is due');
    },
  }),
  aCase({
    id: 'reserve-order/held-priority-holds-nothing-up',
    name: 'A job of higher priority that another client holds does not hold up the others',
    rule: 'job-order',
    run: async ({ driver, connect }) => {
      await driver.push(aJob({ priority: 5 }));
      await reserveOne(await connect());
      const second = await driver.push(aJob({ priority: 5 }));
      const third = await driver.push(aJob());
      deepEqual(ids(await drain(driver)), [second, third], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/expired-keeps-its-place',
    name: 'A job whose claim has expired keeps the place its priority gives it',
    rule: 'job-order',
    run: async ({ driver, clock }) => {
      const urgent = await driver.push(aJob({ priority: 5 }));
      await reserveOne(driver, { timeout: 30 });
      const middle = await driver.push(aJob({ priority: 4 }));
      clock.advance(30);
      const late = await driver.push(aJob({ priority: 5, queue: 'other' }));
      deepEqual(
        ids(await drain(driver, ['default', 'other'])),
        [urgent, middle, late],
        'the ids, in the order reserved',
      );
    },
  }),
  aCase({
    id: 'reserve-order/earliest-due',
    name: 'Within a priority the job that became due first goes first, not the one pushed first',
    rule: 'job-order',
    needs: ['exactOrder'],
    run: async ({ driver, clock }) => {
      const late = await driver.push(aJob({ delay: 10 }));
      const early = await driver.push(aJob({ delay: 5 }));
      clock.advance(60);
      const now = await driver.push(aJob());
      deepEqual(ids(await drain(driver)), [early, late, now], 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/lowest-id',
    name: 'Of jobs that became due in the same second the lowest id goes first',
    rule: 'job-order',
    needs: ['exactOrder'],
    run: async ({ driver, clock }) => {
      clock.advance(0.9);
      const first = await driver.push(aJob());
      clock.advance(-0.5);
      const second = await driver.push(aJob());
      const third = await driver.push(aJob());
      deepEqual(ids(await drain(driver)), lowestFirst(first, second, third), 'the ids, in the order reserved');
    },
  }),
  aCase({
    id: 'reserve-order/released-by-new-due-time',
    name: 'A released job takes the place its new due time gives it',
    rule: 'job-order',
    needs: ['exactOrder'],
    run: async ({ driver, clock }) => {
      const first = await driver.push(aJob());
      const claim = await reserveOne(driver);
      clock.advance(1);
      const second = await driver.push(aJob());
      clock.advance(1);
      await driver.release(claim, 0, '');
      deepEqual(ids(await drain(driver)), [second, first], 'the ids, in the order reserved');
    },
  }),
];
