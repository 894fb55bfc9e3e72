import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { sameIds } from '../expectations.js';
import { aJob, drain, ids, reserveOne, WORKER } from '../fixtures.js';

export const races: readonly ConformanceCase[] = [
  aCase({
    id: 'races/each-job-once',
    name: 'Of many reserves at once, by two clients, no two get the same job, and no job is lost',
    rule: 'exclusive',
    run: async ({ driver, connect }) => {
      const clients = [driver, await connect()];
      const pushed: number[] = [];
      for (let count = 0; count < 30; count += 1) pushed.push(await driver.push(aJob({ priority: count % 3 })));
      const calls = Array.from({ length: 40 }, (_, index) =>
        (clients[index % 2] ?? driver).reserve(['default'], 3_600, WORKER),
      );
      const raced = (await Promise.all(calls)).filter((job) => job !== null);
      // A reserve may lose five races in a row and give null: what it did not get is still there.
      const rest = await drain(driver);
      sameIds(ids([...raced, ...rest]), pushed, 'the jobs handed out, each once');
      deepEqual(new Set([...raced, ...rest].map(({ attempts }) => attempts)), new Set([1]), 'their attempts');
    },
  }),
  aCase({
    id: 'races/one-takes-over',
    name: 'Of many reserves at once, by two clients, one takes over a job whose claim has expired',
    rule: 'exclusive',
    run: async ({ driver, connect, clock }) => {
      const clients = [driver, await connect()];
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 10 });
      clock.advance(15);
      const calls = Array.from({ length: 10 }, (_, index) =>
        (clients[index % 2] ?? driver).reserve(['default'], 60, WORKER),
      );
      const got = (await Promise.all(calls)).filter((job) => job !== null);
      deepEqual(
        got.map(({ attempts, reclaimed }) => ({ attempts, reclaimed })),
        [{ attempts: 2, reclaimed: true }],
        'the claims given',
      );
    },
  }),
  aCase({
    id: 'races/one-finishes',
    name: 'Of many calls at once that finish one claim, by two clients, one acts',
    rule: 'fence',
    run: async ({ driver, connect }) => {
      const other = await connect();
      for (let round = 0; round < 5; round += 1) {
        await driver.push(aJob({ queue: `q${round}` }));
        const claim = await reserveOne(driver, { queue: `q${round}` });
        const answers = await Promise.all([
          driver.release(claim, 600, 'no'),
          other.delete(claim),
          driver.delete(claim),
          other.release(claim, 600, 'no'),
          driver.fail(claim, 'no'),
        ]);
        equal(answers.filter(Boolean).length, 1, 'how many of the five acted');
      }
    },
  }),
  aCase({
    id: 'races/takeover-or-finish',
    name: 'A claim that expires while its holder finishes is finished or taken over, and never both',
    rule: 'fence',
    run: async ({ driver, connect, clock }) => {
      const other = await connect();
      for (let round = 0; round < 10; round += 1) {
        await driver.push(aJob());
        const claim = await reserveOne(driver, { timeout: 10 });
        clock.advance(15);
        const [deleted, taken] = await Promise.all([driver.delete(claim), other.reserve(['default'], 60, WORKER)]);
        equal(deleted, taken === null, 'the delete acted exactly when nobody took the job over');
        if (taken !== null) equal(await other.delete(taken), true, 'the new holder’s delete');
        equal(await driver.pending(), 0, 'pending');
      }
    },
  }),
  aCase({
    id: 'races/takeover-or-release',
    name: 'A claim that expires while its holder releases the job is taken over or released: no delay is cut short',
    rule: 'exclusive',
    run: async ({ driver, connect, clock }) => {
      const other = await connect();
      for (let round = 0; round < 10; round += 1) {
        await driver.push(aJob());
        const claim = await reserveOne(driver, { timeout: 10 });
        clock.advance(15);
        const [released, taken] = await Promise.all([
          driver.release(claim, 60, 'no'),
          other.reserve(['default'], 60, WORKER),
        ]);
        equal(released, taken === null, 'the release acted exactly when nobody took the job over');
        if (released) clock.advance(60);
        equal(await other.delete(taken ?? (await reserveOne(driver))), true, 'the delete by who holds it then');
      }
    },
  }),
];
