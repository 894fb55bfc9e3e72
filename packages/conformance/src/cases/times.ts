import { equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameMoment } from '../expectations.js';
import { aJob, only, reserveNone, reserveOne, rowOf } from '../fixtures.js';

/**
 * Milliseconds into a second at which something begins; what lasts 10 s from there ends with the second of that index. What
 * begins with a second ends with one: the cases of each method tell that.
 */
const PHASES = [
  { ms: 50, ends: 11 },
  { ms: 999, ends: 11 },
] as const;

const FAR = [
  { id: '1999', now: '1999-12-31T23:59:30.000Z' },
  { id: '2038', now: '2038-01-19T03:13:50.000Z' },
  { id: '2106', now: '2106-02-07T06:27:50.000Z' },
  { id: '9999', now: '9999-12-31T23:58:00.000Z' },
] as const;

export const times: readonly ConformanceCase[] = [
  ...PHASES.flatMap((phase) => [delayFrom(phase), releaseFrom(phase), claimFrom(phase)]),
  aCase({
    id: 'times/push-due-at-once',
    name: 'A push without delay is due at once, in whatever part of a second',
    rule: 'zero-is-now',
    run: async ({ driver, clock }) => {
      for (const ms of [0, ...PHASES.map((phase) => phase.ms)]) {
        clock.set(clock.second(1));
        clock.advance(ms / 1000);
        await driver.push(aJob());
        equal(await driver.pending(), 1, `pending ${ms} ms into a second`);
        await driver.delete(await reserveOne(driver));
      }
    },
  }),
  aCase({
    id: 'times/release-due-at-once',
    name: 'A release without delay is due at once, in whatever part of a second',
    rule: 'zero-is-now',
    run: async ({ driver, clock }) => {
      for (const { ms } of PHASES) {
        clock.set(clock.second(1));
        await driver.push(aJob());
        const job = await reserveOne(driver);
        clock.advance(ms / 1000);
        await driver.release(job, 0, '');
        await driver.delete(await reserveOne(driver));
      }
    },
  }),
  aCase({
    id: 'times/whole-seconds',
    name: 'Every time is stored in whole seconds',
    rule: 'claim-length',
    needs: ['jobRows', 'failedRows'],
    run: async ({ driver, clock, jobRows, failedRows }) => {
      clock.advance(0.567);
      const id = await driver.push(aJob({ delay: 10 }));
      clock.advance(11);
      const job = await reserveOne(driver, { timeout: 10 });
      const row = rowOf(await jobRows(), id);
      sameMoment(row.createdAt, clock.second(-11), 'created_at: now, rounded down');
      sameMoment(row.availableAt, clock.second(0), 'available_at: now + 10, rounded up');
      sameMoment(row.reservedUntil, clock.second(11), 'reserved_until: now + 10, rounded up');
      await driver.fail(job, 'no');
      sameMoment(only(await failedRows()).failedAt, clock.second(), 'failed_at: now, rounded down');
    },
  }),
  ...FAR.map(({ id, now }) =>
    aCase({
      id: `times/year-${id}`,
      name: `Jobs are pushed, delayed, claimed, taken over and failed in the year ${id} as in any other`,
      rule: 'own-clock',
      needs: ['jobRows', 'failedRows'],
      run: async ({ driver, clock, jobRows, failedRows }) => {
        clock.set(now);
        const job = await driver.push(aJob({ delay: 30 }));
        const row = rowOf(await jobRows(), job);
        sameMoment(row.createdAt, clock.second(), 'created_at');
        sameMoment(row.availableAt, clock.second(30), 'available_at');
        clock.advance(29);
        await reserveNone(driver, 'before it is due');
        clock.advance(1);
        await reserveOne(driver, { timeout: 30 });
        sameMoment(rowOf(await jobRows(), job).reservedUntil, clock.second(30), 'reserved_until');
        clock.advance(29);
        await reserveNone(driver, 'before the claim ends');
        clock.advance(1);
        await driver.fail(await reserveOne(driver), 'no');
        sameMoment(only(await failedRows()).failedAt, clock.second(), 'failed_at');
      },
    }),
  ),
];

type Phase = (typeof PHASES)[number];

function delayFrom({ ms, ends }: Phase): ConformanceCase {
  return aCase({
    id: `times/delay-from-${padded(ms)}`,
    name: `A delay of 10 s that begins ${ms} ms into a second ends ${ends} s after that second began, to the millisecond`,
    rule: 'claim-length',
    run: async ({ driver, clock }) => {
      clock.advance(ms / 1000);
      await driver.push(aJob({ delay: 10 }));
      clock.set(clock.second(ends));
      clock.advance(-0.001);
      await reserveNone(driver, 'one millisecond before it is due');
      clock.advance(0.001);
      await reserveOne(driver);
    },
  });
}

function releaseFrom({ ms, ends }: Phase): ConformanceCase {
  return aCase({
    id: `times/release-from-${padded(ms)}`,
    name: `A release for 10 s that begins ${ms} ms into a second ends ${ends} s after that second began, to the millisecond`,
    rule: 'claim-length',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const job = await reserveOne(driver);
      clock.advance(ms / 1000);
      await driver.release(job, 10, '');
      clock.set(clock.second(ends));
      clock.advance(-0.001);
      await reserveNone(driver, 'one millisecond before it is due');
      clock.advance(0.001);
      await reserveOne(driver);
    },
  });
}

function claimFrom({ ms, ends }: Phase): ConformanceCase {
  return aCase({
    id: `times/claim-from-${padded(ms)}`,
    name: `A claim of 10 s that begins ${ms} ms into a second ends ${ends} s after that second began, to the millisecond`,
    rule: 'claim-length',
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      clock.advance(ms / 1000);
      await reserveOne(driver, { timeout: 10 });
      clock.set(clock.second(ends));
      clock.advance(-0.001);
      await reserveNone(driver, 'one millisecond before the deadline');
      clock.advance(0.001);
      await reserveOne(driver);
    },
  });
}

function padded(ms: number): string {
  return String(ms).padStart(3, '0');
}
