import { deepEqual, equal } from 'node:assert/strict';
import type { Claim, QueueDriver, QueueLeases } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, reserveNone, reserveOne } from '../fixtures.js';

type LeasingDriver = QueueDriver & QueueLeases;

/** The methods that act behind the fence. `extend` is called on drivers with leases alone. */
const METHODS = {
  delete: (driver, claim) => driver.delete(claim),
  release: (driver, claim) => driver.release(claim, 0, 'stale'),
  fail: (driver, claim) => driver.fail(claim, 'stale'),
  extend: (driver, claim) => driver.extend(claim, 3_600),
} as const satisfies Readonly<Record<string, (driver: LeasingDriver, claim: Claim) => Promise<boolean>>>;

type Method = keyof typeof METHODS;

export const fences: readonly ConformanceCase[] = [
  ...(Object.keys(METHODS) as Method[]).flatMap((method) => [
    afterTakeover(method),
    afterRelease(method),
    whenGone(method),
    whenExpired(method),
  ]),
  aCase({
    id: 'fences/stale-fail-leaves-no-trace',
    name: 'A stale worker that fails a job puts nothing into the failed store',
    rule: 'fence',
    needs: ['failedRows'],
    run: async ({ driver, clock, failedRows }) => {
      await driver.push(aJob());
      const stale = await reserveOne(driver, { timeout: 10 });
      clock.advance(10);
      const holder = await reserveOne(driver);
      await driver.fail(stale, 'stale');
      equal((await failedRows()).length, 0, 'rows in the failed store');
      await driver.fail(holder, 'mine');
      await driver.fail(stale, 'stale');
      deepEqual(
        (await failedRows()).map(({ error, attempts }) => ({ error, attempts })),
        [{ error: 'mine', attempts: 2 }],
        'the rows in the failed store',
      );
    },
  }),
  aCase({
    id: 'fences/only-the-claim-meant',
    name: 'Finishing one job leaves every other as it is, of the same attempt too',
    rule: 'fence',
    run: async ({ driver }) => {
      for (let count = 0; count < 4; count += 1) await driver.push(aJob());
      const first = await reserveOne(driver);
      const second = await reserveOne(driver);
      const third = await reserveOne(driver);
      await reserveOne(driver);
      await driver.delete(first);
      await driver.fail(second, 'no');
      await driver.release(third, 0, '');
      equal((await reserveOne(driver)).id, third.id, 'the one released is the only one due');
      await reserveNone(driver, 'with the rest gone or held');
    },
  }),
];

function afterTakeover(method: Method): ConformanceCase {
  return aCase({
    id: `fences/${method}-after-takeover`,
    name: `A worker whose claim was taken over cannot ${method} the new holder’s job: false, and nothing happened`,
    rule: 'fence',
    needs: needsOf(method),
    run: async ({ driver, clock, connect }) => {
      await driver.push(aJob());
      const stale = await reserveOne(driver, { timeout: 10 });
      clock.advance(15);
      const other = await connect();
      await reserveOne(other, { timeout: 60 });
      equal(await METHODS[method](driver, stale), false, `the stale ${method}`);
      clock.advance(59);
      await reserveNone(driver, 'while the new holder’s claim lives');
      clock.advance(1);
      const { attempts, reclaimed } = await reserveOne(other);
      deepEqual(
        { attempts, reclaimed },
        { attempts: 3, reclaimed: true },
        'the job when the new holder’s claim has run out',
      );
    },
  });
}

function afterRelease(method: Method): ConformanceCase {
  return aCase({
    id: `fences/${method}-after-release`,
    name: `A job that was released has no claim: its last holder cannot ${method} it, and the release stays as it was`,
    rule: 'fence',
    needs: needsOf(method),
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob());
      const claim = await reserveOne(driver);
      await driver.release(claim, 10, 'first');
      equal(await METHODS[method](driver, claim), false, `the ${method} after the release`);
      equal(await METHODS[method](driver, { id, attempts: 0, handle: claim.handle }), false, 'with a claim made up');
      equal(await driver.pending(), 0, 'pending before the release’s delay is over');
      clock.advance(10);
      equal((await reserveOne(driver)).attempts, 2, 'attempts when the delay is over');
    },
  });
}

function whenGone(method: Method): ConformanceCase {
  return aCase({
    id: `fences/${method}-when-gone`,
    name: `There is nothing to ${method} where the job was deleted, failed or never pushed: false, and no error`,
    rule: 'fence',
    needs: needsOf(method),
    run: async ({ driver }) => {
      await driver.push(aJob());
      const deleted = await reserveOne(driver);
      await driver.delete(deleted);
      await driver.push(aJob());
      const failed = await reserveOne(driver);
      await driver.fail(failed, 'no');
      const never = { ...failed, id: failed.id + 1_000 };
      for (const [what, claim] of Object.entries({ deleted, failed, 'never pushed': never })) {
        equal(await METHODS[method](driver, claim), false, `${method} of a job that was ${what}`);
      }
      equal(await driver.pending(), 0, 'pending');
    },
  });
}

function whenExpired(method: Method): ConformanceCase {
  return aCase({
    id: `fences/${method}-when-expired`,
    name: `A claim that has expired but was not taken over still lets its holder ${method} the job`,
    rule: 'expired',
    needs: needsOf(method),
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 10 });
      clock.advance(3_000);
      equal(await METHODS[method](driver, claim), true, `the ${method}`);
      equal(await driver.pending(), method === 'release' ? 1 : 0, `pending after the ${method}`);
    },
  });
}

function needsOf(method: Method): readonly 'leases'[] {
  // Typed as if every method needed leases, so that one table serves all four; only `extend` is called on a lease.
  return method === 'extend' ? ['leases'] : [];
}
