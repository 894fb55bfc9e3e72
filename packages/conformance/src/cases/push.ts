import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, drain, ids, reserveOne, rowOf } from '../fixtures.js';

const NAMES = [
  'constructor',
  '__proto__',
  'toString',
  '../../x',
  'node:child_process',
  "x'); DROP TABLE queue_jobs; --",
  'é 😀 %s ? $1 :a',
];

export const push: readonly ConformanceCase[] = [
  aCase({
    id: 'push/resolves-to-the-id',
    name: 'A push resolves to the id of the new job, a number that no other job has',
    rule: 'push-id',
    run: async ({ driver, connect }) => {
      const other = await connect();
      const pushed = [await driver.push(aJob()), await other.push(aJob()), await driver.push(aJob())];
      for (const id of pushed) ok(Number.isSafeInteger(id) && id > 0, `an id has to be a whole number above 0: ${id}`);
      equal(new Set(pushed).size, 3, 'three jobs have to have three ids');
      deepEqual(
        ids(await drain(driver)).toSorted((a, b) => a - b),
        pushed.toSorted((a, b) => a - b),
        'the ids pushed are those reserved',
      );
    },
  }),
  aCase({
    id: 'push/comes-back-as-pushed',
    name: 'A reserved job has the queue, name, payload and number of attempts it was pushed with, not those of another',
    rule: 'push-columns',
    run: async ({ driver }) => {
      await driver.push(aJob({ name: 'a.b', queue: 'other', maxAttempts: 4 }));
      const id = await driver.push(aJob({ name: 'a.b', payload: { a: [1] }, queue: 'mail', maxAttempts: 5 }));
      const job = await reserveOne(driver, { queue: 'mail' });
      const { queue, name, payload, payloadJson, maxAttempts } = job;
      deepEqual(
        { id: job.id, queue, name, payload, payloadJson, maxAttempts },
        { id, queue: 'mail', name: 'a.b', payload: { a: [1] }, payloadJson: '{"a":[1]}', maxAttempts: 5 },
        'the job reserved',
      );
      equal(typeof job.handle, 'string', 'the handle has to be text');
    },
  }),
  aCase({
    id: 'push/writes-every-column',
    name: 'A push writes every column: attempts 0, no error, no claim, created now, due now plus its delay',
    rule: 'push-columns',
    needs: ['jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      clock.advance(0.999);
      const id = await driver.push(aJob({ queue: 'mail', delay: 0, priority: -4, unique: 'k', maxAttempts: 9 }));
      const { availableAt, createdAt, ...rest } = rowOf(await jobRows(), id);
      deepEqual(
        rest,
        {
          id,
          queue: 'mail',
          name: 'send-invoice',
          payloadJson: '{"invoiceId":7}',
          attempts: 0,
          maxAttempts: 9,
          priority: -4,
          unique: 'k',
          reservedUntil: null,
          reservedBy: null,
          lastError: '',
        },
        'the row stored',
      );
      sameMoment(availableAt, clock.second(), 'available_at is now, rounded down');
      sameMoment(createdAt, clock.second(), 'created_at is now, rounded down');
    },
  }),
  aCase({
    id: 'push/any-name',
    name: 'A driver takes any name within the limits, whatever it may mean elsewhere',
    rule: 'any-name',
    run: async ({ driver }) => {
      for (const name of NAMES) {
        await driver.push(aJob({ name, queue: name, unique: name }));
        const job = await reserveOne(driver, { queue: name });
        deepEqual([job.name, job.queue], [name, name], 'name and queue come back as they were pushed');
        equal(await driver.delete(job), true, `delete of "${name}"`);
      }
      equal(await driver.pending(), 0, 'nothing else was stored');
    },
  }),
  aCase({
    id: 'push/leaves-the-callers-job-alone',
    name: 'A push changes nothing on the job it is given, and needs nothing but to read it',
    rule: 'push-id',
    run: async ({ driver }) => {
      const payload = Object.freeze({ list: Object.freeze([1, 2]) });
      const id = await driver.push(Object.freeze(aJob({ payload, delay: -1, maxAttempts: 0, unique: '' })));
      equal((await reserveOne(driver)).id, id, 'the id reserved');
    },
  }),
  aCase({
    id: 'push/same-job-twice',
    name: 'Pushing the same job twice without a unique key stores two',
    rule: 'push-id',
    run: async ({ driver }) => {
      const job = aJob();
      notEqual(await driver.push(job), await driver.push(job), 'two pushes have two ids');
      equal(await driver.pending(), 2, 'pending');
    },
  }),
];
