import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, drain, ids, reserveNone, reserveOne, rowOf, textOf } from '../fixtures.js';

/** Keys that some store or other takes for the same. */
const PAIRS: readonly { readonly id: string; readonly what: string; readonly keys: readonly string[] }[] = [
  { id: 'case', what: 'case', keys: ['key', 'Key', 'KEY'] },
  { id: 'accents', what: 'an accent', keys: ['cafe', 'café', 'cafè'] },
  { id: 'normalisation', what: 'their Unicode normal form', keys: ['caf\u00e9', 'cafe\u0301', '\ufb01', 'fi'] },
  { id: 'sharp-s', what: 'ß and ss', keys: ['straße', 'strasse'] },
  { id: 'emoji', what: 'an emoji', keys: ['😀', '😁', '👍', '👍🏽'] },
  { id: 'invisible', what: 'an invisible character', keys: ['a', 'a\u200b', '\u200b', 'a\u00adb', 'ab'] },
  { id: 'numeric', what: 'how a number is written', keys: ['1', '01', '1.0', '1e0'] },
  { id: 'last-character', what: 'their 190th character', keys: [`${textOf(189)}a`, `${textOf(189)}b`] },
];

export const unique: readonly ConformanceCase[] = [
  aCase({
    id: 'unique/one-job',
    name: 'Pushing a key that is held gives the holder’s id and stores nothing, for every client and in every queue',
    rule: 'unique-held',
    run: async ({ driver, connect }) => {
      const other = await connect();
      const id = await driver.push(aJob({ unique: 'ключ 😀' }));
      equal(await driver.push(aJob({ unique: 'ключ 😀' })), id, 'the same client, again');
      equal(await other.push(aJob({ unique: 'ключ 😀', queue: 'mail' })), id, 'another client, to another queue');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'unique/changes-nothing',
    name: 'A push under a key that is held changes nothing on the holder',
    rule: 'unique-held',
    needs: ['jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      const id = await driver.push(aJob({ unique: 'k' }));
      await driver.release(await reserveOne(driver), 5, 'no');
      const before = rowOf(await jobRows(), id);
      clock.advance(100);
      const job = { name: 'other', payload: [2], delay: 50, queue: 'mail', priority: 7, unique: 'k', maxAttempts: 9 };
      equal(await driver.push(job), id, 'the id');
      deepEqual(await jobRows(), [before], 'the rows stored');
    },
  }),
  aCase({
    id: 'unique/no-key',
    name: 'Null, undefined and the empty text are no key: each push stores a job',
    rule: 'unique-held',
    run: async ({ driver }) => {
      // The cast: a caller without a type checker leaves the key out.
      for (const key of [null, undefined as never, '']) {
        const first = await driver.push(aJob({ unique: key }));
        notEqual(await driver.push(aJob({ unique: key })), first, `two pushes with the key ${JSON.stringify(key)}`);
      }
      equal(await driver.pending(), 6, 'pending');
    },
  }),
  ...PAIRS.map(({ id, what, keys }) =>
    aCase({
      id: `unique/${id}`,
      name: `Keys that differ in ${what} are different keys`,
      rule: 'byte-for-byte',
      run: async ({ driver }) => {
        for (const key of keys) await driver.push(aJob({ unique: key }));
        equal(await driver.pending(), keys.length, 'each key has a job of its own');
        for (const key of keys) await driver.push(aJob({ unique: key }));
        equal(await driver.pending(), keys.length, 'each key pushed again finds its own');
      },
    }),
  ),
  aCase({
    id: 'unique/held-until-done',
    name: 'A key is held while its job is delayed, reserved, expired and released',
    rule: 'unique-held',
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob({ unique: 'k', delay: 10 }));
      const push = () => driver.push(aJob({ unique: 'k' }));
      equal(await push(), id, 'while it is delayed');
      clock.advance(10);
      await reserveOne(driver, { timeout: 10 });
      equal(await push(), id, 'while it is reserved');
      clock.advance(10);
      equal(await push(), id, 'when its claim has expired');
      await driver.release(await reserveOne(driver), 60, 'no');
      equal(await push(), id, 'when it was released');
    },
  }),
  aCase({
    id: 'unique/freed-by-delete',
    name: 'A deleted job frees its key at once, for a client too that has just found the key held',
    rule: 'unique-freed',
    run: async ({ driver, connect }) => {
      const other = await connect();
      const id = await driver.push(aJob({ unique: 'k' }));
      equal(await other.push(aJob({ unique: 'k' })), id, 'the id while the key is held');
      await driver.delete(await reserveOne(driver));
      notEqual(await other.push(aJob({ unique: 'k' })), id, 'the id of the next job');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'unique/freed-by-fail',
    name: 'A failed job frees its key at once, for a client too that has just found the key held',
    rule: 'unique-freed',
    run: async ({ driver, connect }) => {
      const other = await connect();
      const id = await driver.push(aJob({ unique: 'k' }));
      equal(await other.push(aJob({ unique: 'k' })), id, 'the id while the key is held');
      await driver.fail(await reserveOne(driver), 'no');
      notEqual(await other.push(aJob({ unique: 'k' })), id, 'the id of the next job');
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'unique/not-given-back',
    name: 'A failed job that is requeued does not get its key back: whoever took it meanwhile keeps it',
    rule: 'unique-freed',
    needs: ['reports', 'jobRows'],
    run: async ({ driver, jobRows }) => {
      await driver.push(aJob({ unique: 'k' }));
      await driver.fail(await reserveOne(driver), 'no');
      const holder = await driver.push(aJob({ unique: 'k' }));
      equal(await driver.retryFailed('all', 3), 1, 'how many were requeued');
      deepEqual((await jobRows()).map((row) => row.unique).toSorted(), ['k', null], 'the keys stored');
      equal(await driver.push(aJob({ unique: 'k' })), holder, 'the holder of the key');
    },
  }),
  aCase({
    id: 'unique/race',
    name: 'Of many pushes of one key at once, by two clients, one stores a job and all give its id',
    rule: 'unique-race',
    run: async ({ driver, connect }) => {
      const other = await connect();
      const pushed = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? driver : other).push(aJob({ unique: 'k' }))),
      );
      equal(new Set(pushed).size, 1, 'how many ids were given');
      deepEqual(ids(await drain(driver)), [pushed[0]], 'the jobs stored');
    },
  }),
  aCase({
    id: 'unique/race-with-delete',
    name: 'A push that races with its holder’s completion gives the id of the holder, or stores a job of its own',
    rule: 'unique-race',
    run: async ({ driver, connect }) => {
      const other = await connect();
      for (let round = 0; round < 10; round += 1) {
        const unique = `k${round}`;
        const holder = await driver.push(aJob({ unique }));
        const claim = await reserveOne(driver);
        let pushed = 0;
        let deleted = false;
        const calls = [
          async () => {
            pushed = await other.push(aJob({ unique }));
          },
          async () => {
            deleted = await driver.delete(claim);
          },
        ];
        // Whichever is begun first is likely to reach the store first: both orders are to be right.
        if (round % 2 === 1) calls.reverse();
        await Promise.all(calls.map((call) => call()));
        ok(deleted, 'the holder’s delete');
        if (pushed !== holder) equal(await driver.delete(await reserveOne(driver)), true, 'the job of the push');
        await reserveNone(driver, 'with both jobs done');
      }
    },
  }),
];
