import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import type { Claim, NewJob } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { INVALID, inWords, refused, sameIds } from '../expectations.js';
import { aJob, aRow, drain, ids, reserveNone, reserveOne, textOf, WORKER } from '../fixtures.js';

const QUEUES = ['default'];

export const turnover: readonly ConformanceCase[] = [
  aCase({
    id: 'turnover/deletes-and-claims',
    name: 'All claims that hold are deleted, and the next jobs claimed: the queues in order, the highest priorities first',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      const done = [];
      for (const queue of ['high', 'a', 'a']) {
        await driver.push(aJob({ queue }));
        done.push(await reserveOne(driver, { queue }));
      }
      const low = await driver.push(aJob({ queue: 'high', priority: 1 }));
      const high = await driver.push(aJob({ queue: 'high', priority: 2 }));
      await driver.push(aJob({ queue: 'high', priority: 3, delay: 600 }));
      const later = await driver.push(aJob({ queue: 'a', priority: 9 }));
      const last = await driver.push(aJob({ queue: 'a', priority: 8 }));
      const { lost, jobs } = await driver.deleteAndReserve(done, ['high', 'empty', 'a'], 3, 300, WORKER);
      deepEqual(lost, [], 'the claims lost');
      deepEqual(ids(jobs), [high, low, later], 'the jobs claimed');
      clock.advance(60);
      equal(await driver.pending(), 1, 'pending when the claims of the jobs that are done would have expired');
      equal((await reserveOne(driver, { queue: 'a' })).id, last, 'the job left');
    },
  }),
  aCase({
    id: 'turnover/claims',
    name: 'Each job that a turnover gives is claimed as by a reserve: its attempt, its deadline, its worker, cut to 64',
    rule: 'turnover',
    needs: ['turnover', 'jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      await driver.push(aJob());
      const done = await reserveOne(driver);
      for (const n of [0, 1]) await driver.push(aJob({ payload: [n], priority: -n }));
      clock.advance(0.05);
      const { jobs } = await driver.deleteAndReserve([done], QUEUES, 5, 10, textOf(70, 'w'));
      deepEqual(
        jobs.map(({ attempts, reclaimed, payload }) => ({ attempts, reclaimed, payload })),
        [0, 1].map((n) => ({ attempts: 1, reclaimed: false, payload: [n] })),
        'the jobs given',
      );
      const until = clock.second(11).toISOString();
      deepEqual(
        (await jobRows()).map((row) => [row.attempts, row.reservedBy, row.reservedUntil?.toISOString()]),
        [1, 2].map(() => [1, textOf(64, 'w'), until]),
        'the rows stored',
      );
    },
  }),
  aCase({
    id: 'turnover/lost-ones',
    name: 'Claims that were taken over, released or finished are given back by a turnover as lost, those jobs left alone',
    rule: 'turnover',
    needs: ['turnover'],
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
      const { lost, jobs } = await driver.deleteAndReserve([deleted, released, held, takenOver], QUEUES, 4, 60, WORKER);
      deepEqual(ids(lost), ids([deleted, released, takenOver]), 'the claims lost, in the order given');
      deepEqual(ids(jobs), [], 'the jobs claimed');
      equal(await driver.delete(holder), true, 'the new holder’s delete');
      clock.advance(600);
      equal((await reserveOne(driver)).id, released.id, 'the job released');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'turnover/gives-back-what-it-was-given',
    name: 'The claims that a turnover gives back as lost are the very ones that were handed in',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      const job = await reserveOne(driver);
      await driver.delete(job);
      const { lost } = await driver.deleteAndReserve([job], QUEUES, 1, 60, WORKER);
      equal(lost.length, 1, 'how many claims were lost');
      equal(lost[0], job, 'the lost claim has to be the same object');
    },
  }),
  aCase({
    id: 'turnover/expired-is-done',
    name: 'A claim that has expired but was not taken over is deleted, and the next job claimed, though it was the first',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      const done = [];
      for (let count = 0; count < 3; count += 1) {
        await driver.push(aJob({ priority: 9 }));
        done.push(await reserveOne(driver, { timeout: 10 }));
      }
      const [next, after] = [await driver.push(aJob({ priority: 2 })), await driver.push(aJob({ priority: 1 }))];
      clock.advance(60);
      const first = await driver.deleteAndReserve(done.slice(0, 2), QUEUES, 1, 60, WORKER);
      deepEqual([first.lost, ids(first.jobs)], [[], ids(done.slice(2))], 'the claims lost, and the job taken over');
      const second = await driver.deleteAndReserve(first.jobs, QUEUES, 1, 10, WORKER);
      deepEqual([second.lost, ids(second.jobs)], [[], [next]], 'the claims lost, and the job after it');
      clock.advance(60);
      const third = await driver.deleteAndReserve(second.jobs, QUEUES, 1, 60, WORKER);
      deepEqual([third.lost, ids(third.jobs)], [[], [after]], 'the claims lost, and the last job');
    },
  }),
  aCase({
    id: 'turnover/expired-and-nothing-else',
    name: 'A claim that has expired is deleted and not handed out again, however many jobs more are asked for',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      const done = [];
      for (let count = 0; count < 3; count += 1) {
        await driver.push(aJob());
        done.push(await reserveOne(driver, { timeout: 10 }));
      }
      clock.advance(60);
      const { lost, jobs } = await driver.deleteAndReserve(done, QUEUES, 10, 60, WORKER);
      deepEqual([ids(lost), ids(jobs)], [[], []], 'the claims lost, and the jobs claimed');
      clock.advance(60);
      await reserveNone(driver, 'when all are done');
    },
  }),
  aCase({
    id: 'turnover/taken-over',
    name: 'A job whose claim was taken over is handed out by a turnover when that claim has expired, and not before',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const old = await reserveOne(driver, { timeout: 10 });
      clock.advance(10);
      const holder = await reserveOne(driver, { timeout: 60 });
      const early = await driver.deleteAndReserve([old], QUEUES, 3, 60, WORKER);
      deepEqual([early.lost, ids(early.jobs)], [[old], []], 'the claims lost, and the jobs claimed, while it is held');
      clock.advance(60);
      const { lost, jobs } = await driver.deleteAndReserve([old], QUEUES, 3, 60, WORKER);
      deepEqual(lost, [old], 'the claims lost, when the other claim has expired');
      deepEqual(
        jobs.map(({ id, attempts, reclaimed }) => ({ id, attempts, reclaimed })),
        [{ id: holder.id, attempts: 3, reclaimed: true }],
        'the jobs claimed then',
      );
    },
  }),
  aCase({
    id: 'turnover/reclaimed-alone',
    name: 'The jobs of a turnover end before one taken over from an expired claim; the next time it comes alone',
    rule: 'reclaimed-alone',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      const expired = await driver.push(aJob({ priority: 5 }));
      await reserveOne(driver, { timeout: 10 });
      const before = await driver.push(aJob({ priority: 9 }));
      const after = [await driver.push(aJob({ priority: 2 })), await driver.push(aJob({ priority: 1 }))];
      clock.advance(10);
      let done: readonly Claim[] = [];
      const batches = [];
      for (let count = 0; count < 3; count += 1) {
        const { jobs } = await driver.deleteAndReserve(done, QUEUES, 10, 60, WORKER);
        batches.push(jobs.map(({ id, reclaimed }) => [id, reclaimed]));
        done = jobs;
      }
      const rest = after.map((id) => [id, false]);
      deepEqual(batches, [[[before, false]], [[expired, true]], rest], 'the batches: ids, and whether reclaimed');
    },
  }),
  aCase({
    id: 'turnover/undecodable',
    name: 'Broken payloads among good ones are failed by a turnover, which gives all the good ones it was asked for',
    rule: 'claim-rounds',
    needs: ['turnover', 'insertRow', 'failedRows'],
    run: async ({ driver, clock, insertRow, failedRows }) => {
      await driver.push(aJob());
      const done = await reserveOne(driver);
      const good: number[] = [];
      for (let priority = 12; priority > 0; priority -= 2) {
        good.push(await driver.push(aJob({ priority })));
        await insertRow(aRow(clock.now(), { queue: 'default', payloadJson: '{broken}', priority: priority - 1 }));
      }
      good.push(await driver.push(aJob()));
      const { lost, jobs } = await driver.deleteAndReserve([done], QUEUES, 7, 60, WORKER);
      deepEqual([lost, ids(jobs)], [[], good], 'the claims lost, and the jobs claimed');
      equal((await failedRows()).length, 6, 'rows in the failed store');
    },
  }),
  aCase({
    id: 'turnover/limit',
    name: 'A turnover claims no more than its limit, however many it deletes; a limit below 1 is raised to 1',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver }) => {
      for (let count = 0; count < 12; count += 1) await driver.push(aJob());
      let done: readonly Claim[] = [];
      for (const [limit, size] of [
        [5, 5],
        [2, 2],
        [0, 1],
        [-3, 1],
        [9, 3],
      ] as const) {
        const { lost, jobs } = await driver.deleteAndReserve(done, QUEUES, limit, 60, WORKER);
        deepEqual([lost, jobs.length], [[], size], `the claims lost, and how many jobs for limit ${limit}`);
        done = jobs;
      }
    },
  }),
  aCase({
    id: 'turnover/checks-first',
    name: 'What is wrong with any argument of a turnover is refused before anything is deleted or claimed',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      const held = await reserveOne(driver);
      await driver.push(aJob());
      // The casts: a caller without a type checker.
      const call = (what: {
        claims?: unknown;
        queues?: unknown;
        limit?: unknown;
        timeout?: unknown;
        worker?: unknown;
      }) => {
        const { claims, queues, limit, timeout, worker } = {
          ...{ claims: [held], queues: QUEUES, limit: 1, timeout: 60, worker: WORKER },
          ...what,
        };
        return driver.deleteAndReserve(
          claims as Claim[],
          queues as string[],
          limit as number,
          timeout as number,
          worker as string,
        );
      };
      for (const claims of [null, undefined, held, 'claims', [held, null], [held, { ...held, id: {} }]]) {
        await refused(() => call({ claims }), INVALID, `claims ${inWords(claims)}`);
      }
      for (const queues of [null, 'default', ['default', 42], ['default', ''], ['default', textOf(65)]]) {
        await refused(() => call({ queues }), INVALID, `queues ${inWords(queues)}`);
      }
      for (const value of [Number.NaN, 1.5, '3', null, undefined, 2 ** 53]) {
        await refused(() => call({ limit: value }), 'invalid_number', `limit ${inWords(value)}`);
        await refused(() => call({ timeout: value }), 'invalid_number', `timeout ${inWords(value)}`);
      }
      for (const worker of [null, undefined, '', 42, ['w']]) {
        await refused(() => call({ worker }), INVALID, `worker ${inWords(worker)}`);
      }
      equal(await driver.delete(held), true, 'the claim still holds');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'turnover/no-claims',
    name: 'A turnover of no claims loses none, and claims as reserveMany would',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver }) => {
      const pushed = [];
      for (let count = 0; count < 3; count += 1) pushed.push(await driver.push(aJob({ priority: -count })));
      for (const expected of [pushed.slice(0, 2), pushed.slice(2), []]) {
        const { lost, jobs } = await driver.deleteAndReserve([], QUEUES, 2, 60, WORKER);
        deepEqual([lost, ids(jobs)], [[], expected], 'the claims lost, and the jobs claimed');
      }
    },
  }),
  aCase({
    id: 'turnover/no-queues',
    name: 'A turnover from no queues deletes and claims none, and so does one from queues with nothing due',
    rule: 'turnover',
    needs: ['turnover'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob({ queue: 'later', delay: 600 }));
      for (const queues of [[], ['later', 'empty']]) {
        await driver.push(aJob());
        const done = await reserveOne(driver, { timeout: 60 });
        const { lost, jobs } = await driver.deleteAndReserve([done], queues, 5, 60, WORKER);
        deepEqual([lost, jobs], [[], []], `the claims lost, and the jobs claimed from ${inWords(queues)}`);
        equal(await driver.delete(done), false, 'a second delete of the same claim');
      }
      clock.advance(60);
      equal(await driver.pending(), 0, 'pending');
    },
  }),
  aCase({
    id: 'turnover/frees-keys',
    name: 'A turnover frees the unique keys of the jobs that it deletes, and of no others',
    rule: 'unique-freed',
    needs: ['turnover'],
    run: async ({ driver }) => {
      await driver.push(aJob({ unique: 'done', priority: 1 }));
      const next = await driver.push(aJob({ unique: 'next' }));
      const done = await reserveOne(driver);
      const { jobs } = await driver.deleteAndReserve([done], QUEUES, 1, 60, WORKER);
      deepEqual(ids(jobs), [next], 'the jobs claimed');
      equal(await driver.push(aJob({ unique: 'next' })), next, 'the id for the key of the job claimed');
      const again = await driver.push(aJob({ unique: 'done' }));
      notEqual(again, done.id, 'the id of the next job of the key that is free');
      equal((await reserveOne(driver)).id, again, 'the job reserved');
    },
  }),
  aCase({
    id: 'turnover/any-size',
    name: 'A turnover deletes 1,200 claims and claims 1,200 jobs in one go',
    rule: 'turnover',
    needs: ['turnover', 'batches'],
    run: async ({ driver, clock }) => {
      const many = (queue: string): NewJob[] => Array.from({ length: 1_200 }, () => aJob({ queue }));
      await driver.pushMany(many('done'));
      const done = await driver.reserveMany(['done'], 1_200, 60, WORKER);
      const next = await driver.pushMany(many('next'));
      const { lost, jobs } = await driver.deleteAndReserve(done, ['done', 'next'], 1_200, 600, WORKER);
      deepEqual(lost, [], 'the claims lost');
      sameIds(ids(jobs), next, 'the jobs claimed');
      clock.advance(60);
      equal(await driver.pending(), 0, 'pending when the claims of the jobs that are done would have expired');
    },
  }),
  aCase({
    id: 'turnover/race',
    name: 'Clients that turn over at once never share a job, leave none behind, and each claim is deleted by one of them',
    rule: 'exclusive',
    needs: ['turnover'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const pushed: number[] = [];
      for (let count = 0; count < 40; count += 1) pushed.push(await driver.push(aJob()));
      const seen: number[] = [];
      let done: readonly Claim[] = [];
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(
          [driver, other, driver, other].map((client) => client.deleteAndReserve(done, QUEUES, 2, 3_600, WORKER)),
        );
        const deletions = answers.flatMap(({ lost }) => ids(done).filter((id) => !ids(lost).includes(id)));
        sameIds(deletions, ids(done), 'the claims deleted, each once');
        done = answers.flatMap(({ jobs }) => jobs);
        seen.push(...ids(done));
      }
      ok(seen.length > 0, 'there have to be jobs that were handed out');
      // A turnover may lose its races and claim few: what it did not get is still there.
      seen.push(...ids(await drain(driver)));
      sameIds(seen, pushed, 'the jobs handed out, each once');
    },
  }),
  aCase({
    id: 'turnover/takeover-race',
    name: 'A claim that expires while its holder turns over is deleted or taken over, and never both',
    rule: 'fence',
    needs: ['turnover'],
    run: async ({ driver, connect, clock }) => {
      const other = await connect();
      for (let round = 0; round < 10; round += 1) {
        await driver.push(aJob());
        const claim = await reserveOne(driver, { timeout: 10 });
        clock.advance(15);
        const [{ lost, jobs }, taken] = await Promise.all([
          driver.deleteAndReserve([claim], QUEUES, 1, 60, WORKER),
          other.reserve(QUEUES, 60, WORKER),
        ]);
        equal(lost.length === 0, taken === null, 'the deletion acted exactly when nobody took the job over');
        deepEqual(ids(jobs), [], 'the jobs claimed by the holder');
        if (taken !== null) equal(await other.delete(taken), true, 'the new holder’s delete');
        equal(await driver.pending(), 0, 'pending');
      }
    },
  }),
];
