import { deepEqual, equal } from 'node:assert/strict';
import type { JobState, QueueInspection } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, lowestFirst, only, reserveOne, WORKER } from '../fixtures.js';

export const inspection: readonly ConformanceCase[] = [
  aCase({
    id: 'inspection/pending',
    name: 'Find tells everything that was pushed of a job that is pending',
    rule: 'inspection',
    needs: ['inspection'],
    run: async ({ driver, clock }) => {
      clock.advance(0.25);
      const job = { name: 'send', payload: ['é'], delay: 0, queue: 'mail', priority: 4, unique: 'k', maxAttempts: 9 };
      const id = await driver.push(job);
      const { availableAt, createdAt, ...rest } = await found(driver, id);
      deepEqual(
        rest,
        {
          id,
          queue: 'mail',
          name: 'send',
          payloadJson: '["é"]',
          attempts: 0,
          maxAttempts: 9,
          priority: 4,
          unique: 'k',
          reservedUntil: null,
          reservedBy: null,
          lastError: '',
          state: 'pending',
          ahead: 0,
        },
        'what find tells',
      );
      sameMoment(availableAt, clock.second(), 'availableAt');
      sameMoment(createdAt, clock.second(), 'createdAt');
    },
  }),
  aCase({
    id: 'inspection/reserved',
    name: 'Find tells who holds a job and until when, as reserved while the claim lives and as expired from its deadline on',
    rule: 'inspection',
    needs: ['inspection'],
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob());
      const until = clock.second(60);
      await driver.reserve(['default'], 60, 'host:1');
      clock.advance(59);
      const held = await found(driver, id);
      deepEqual(
        [held.state, held.attempts, held.reservedBy, held.reservedUntil?.toISOString(), held.unique],
        ['reserved', 1, 'host:1', until.toISOString(), null],
        'what find tells of the claim',
      );
      clock.advance(1);
      deepEqual(await found(driver, id), { ...held, state: 'expired' }, 'what find tells at the deadline');
    },
  }),
  aCase({
    id: 'inspection/released',
    name: 'Find tells the error and the due time of a job that was released, as delayed until it is due',
    rule: 'inspection',
    needs: ['inspection'],
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob());
      await driver.release(await reserveOne(driver), 30, 'no such mailbox');
      const due = clock.second(30);
      clock.advance(29);
      const { state, lastError, reservedUntil, reservedBy, availableAt } = await found(driver, id);
      deepEqual(
        { state, lastError, reservedUntil, reservedBy },
        { state: 'delayed', lastError: 'no such mailbox', reservedUntil: null, reservedBy: null },
        'what find tells before the delay is over',
      );
      sameMoment(availableAt, due, 'availableAt');
      clock.advance(1);
      equal((await found(driver, id)).state, 'pending', 'the state once it is due');
    },
  }),
  aCase({
    id: 'inspection/gone',
    name: 'Find gives null for a job that was deleted, failed or never pushed',
    rule: 'inspection',
    needs: ['inspection'],
    run: async ({ driver }) => {
      const deleted = await driver.push(aJob());
      await driver.delete(await reserveOne(driver));
      const failed = await driver.push(aJob());
      await driver.fail(await reserveOne(driver), 'no');
      for (const id of [deleted, failed, failed + 1_000, -1, 0]) equal(await driver.find(id), null, `find of ${id}`);
    },
  }),
  aCase({
    id: 'inspection/ahead',
    name: 'Ahead counts the jobs of its queue that would go first: of higher priority and due, held by nobody',
    rule: 'inspection',
    needs: ['inspection'],
    run: async ({ driver, clock }) => {
      const expired = await driver.push(aJob({ priority: 9 }));
      await driver.reserve(['default'], 10, WORKER);
      const held = await driver.push(aJob({ priority: 8 }));
      await driver.reserve(['default'], 60, WORKER);
      const delayed = await driver.push(aJob({ priority: 7, delay: 60 }));
      await driver.push(aJob({ priority: 6, queue: 'mail' }));
      const first = await driver.push(aJob({ priority: 5 }));
      const last = await driver.push(aJob({ priority: -1 }));
      clock.advance(10);
      const ahead = [];
      for (const id of [expired, held, delayed, first, last]) ahead.push((await found(driver, id)).ahead);
      deepEqual(ahead, [0, 0, 0, 1, 2], 'ahead of: expired, held, delayed, first, last');
    },
  }),
  aCase({
    id: 'inspection/ahead-within-a-priority',
    name: 'Within a priority ahead counts the jobs that became due earlier, then those with a lower id',
    rule: 'inspection',
    needs: ['inspection', 'exactOrder'],
    run: async ({ driver, clock }) => {
      const late = await driver.push(aJob({ delay: 20 }));
      const early = await driver.push(aJob({ delay: 10 }));
      const tie = await driver.push(aJob({ delay: 20 }));
      clock.advance(30);
      const ahead = [];
      for (const id of [early, ...lowestFirst(late, tie)]) ahead.push((await found(driver, id)).ahead);
      deepEqual(ahead, [0, 1, 2], 'ahead of the one due early, and of the two due late');
    },
  }),
  aCase({
    id: 'inspection/find-failed',
    name: 'FindFailed tells the whole row of a job that failed, and gives null where there is none',
    rule: 'find-failed',
    needs: ['inspection', 'failedRows'],
    run: async ({ driver, clock, failedRows }) => {
      await driver.push(aJob({ queue: 'mail', name: 'send', payload: ['é'] }));
      await driver.fail(await reserveOne(driver, { queue: 'mail' }), 'no');
      const { id } = only(await failedRows());
      const { failedAt, ...rest } = (await driver.findFailed(id)) ?? { failedAt: null };
      deepEqual(
        rest,
        { id, queue: 'mail', name: 'send', payloadJson: '["é"]', attempts: 1, error: 'no' },
        'what findFailed tells',
      );
      sameMoment(failedAt, clock.second(), 'failedAt');
      equal(await driver.findFailed(id + 1_000), null, 'findFailed of an id that is not there');
    },
  }),
];

async function found(driver: QueueInspection, id: number): Promise<JobState> {
  const state = await driver.find(id);
  if (state === null) throw new Error(`find(${id}) gave null where the job is in the store`);
  return state;
}
