import { deepEqual, equal, fail, ok } from 'node:assert/strict';
import type { Claim, NewJob } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { INVALID, inWords, nothingStored, refused } from '../expectations.js';
import { aJob, reserveOne } from '../fixtures.js';

/** What is no text: clients that expand objects and lists make SQL of some of these. */
const NOT_TEXT: readonly unknown[] = [
  { id: 1 },
  { toString: () => 'default' },
  ['default'],
  [['a', 'b']],
  new String('default'),
  Buffer.from('default'),
  42,
  true,
  Symbol('default'),
  () => 'default',
];

const NOTHING: readonly unknown[] = [null, undefined];

/** Claims whose parts are not what a reserve gave. */
const NOT_CLAIMS: readonly (readonly [string, (claim: Claim) => unknown])[] = [
  ['null', () => null],
  ['a number', ({ id }) => id],
  ['a claim whose id is an object', (claim) => ({ ...claim, id: { id: claim.id } })],
  ['a claim whose id is text', (claim) => ({ ...claim, id: String(claim.id) })],
  ['a claim whose attempts are a list', (claim) => ({ ...claim, attempts: [claim.attempts] })],
  ['a claim without attempts', ({ id, handle }) => ({ id, handle })],
  ['a claim whose handle is an object', (claim) => ({ ...claim, handle: { handle: claim.handle } })],
];

export const plainValues: readonly ConformanceCase[] = [
  ...(['name', 'queue', 'unique'] as const).map(pushedText),
  aCase({
    id: 'plain-values/job',
    name: 'What is no object is refused as a job',
    rule: 'plain-values',
    run: async ({ driver }) => {
      for (const value of [null, undefined, 'send-invoice', 42]) {
        // The cast, here and below: a caller without a type checker.
        await refused(() => driver.push(value as unknown as NewJob), INVALID, `pushing ${inWords(value)}`);
      }
    },
  }),
  aCase({
    id: 'plain-values/queues',
    name: 'Queues that are no list of text are refused by reserve, and no job is claimed',
    rule: 'plain-values',
    run: async ({ driver }) => {
      await driver.push(aJob());
      const lists = [...NOT_TEXT, ...NOTHING].map((value) => ['default', value]);
      for (const value of [...lists, 'default', { 0: 'default', length: 1 }, null, undefined]) {
        const queues = value as unknown as readonly string[];
        await refused(() => driver.reserve(queues, 60, 'w'), INVALID, 'reserve from what are no queues');
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'plain-values/worker',
    name: 'A worker id that is no text is refused by reserve, and no job is claimed',
    rule: 'plain-values',
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of [...NOT_TEXT, ...NOTHING, '']) {
        await refused(() => driver.reserve(['default'], 60, value as string), INVALID, `worker ${inWords(value)}`);
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'plain-values/pending',
    name: 'A queue that is no text is refused by pending; null and undefined mean all queues',
    rule: 'plain-values',
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of NOT_TEXT) {
        await refused(() => driver.pending(value as string), INVALID, `pending of ${inWords(value)}`);
      }
      for (const value of [null, undefined]) equal(await driver.pending(value), 1, `pending of ${value}`);
    },
  }),
  ...(['delete', 'release', 'fail'] as const).map(handedBack),
  aCase({
    id: 'plain-values/extend',
    name: 'What is no claim is refused by extend, and the claim stays as it is',
    rule: 'plain-values',
    needs: ['leases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver, { timeout: 60 });
      for (const [what, broken] of NOT_CLAIMS) {
        await refused(() => driver.extend(broken(claim) as Claim, 600), INVALID, `extend of ${what}`);
      }
      clock.advance(60);
      await reserveOne(driver);
    },
  }),
  ...(['release', 'fail'] as const).map(errorText),
  aCase({
    id: 'plain-values/batches',
    name: 'What are no lists of jobs, queues or claims is refused by the batches, and nothing happens',
    rule: 'plain-values',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      const held = await reserveOne(driver);
      const ours = [held, { ...held, id: {} }] as unknown as Claim[];
      for (const value of [
        null,
        'jobs',
        aJob(),
        { length: 1 },
        [aJob(), null],
        [aJob(), aJob({ name: [] as never })],
      ]) {
        await refused(() => driver.pushMany(value as NewJob[]), INVALID, `pushMany of ${inWords(value)}`);
      }
      for (const value of [null, held, ours]) {
        await refused(() => driver.deleteMany(value as Claim[]), INVALID, `deleteMany of ${inWords(value)}`);
      }
      const queues = [{ id: 1 }] as unknown as string[];
      await refused(() => driver.reserveMany(queues, 1, 60, 'w'), INVALID, 'reserveMany from an object');
      await nothingStored(driver, 'refused batches');
      equal(await driver.delete(held), true, 'the claim still holds');
    },
  }),
  aCase({
    id: 'plain-values/batch-worker',
    name: 'A worker id that is no text is refused by reserveMany, and no job is claimed',
    rule: 'plain-values',
    needs: ['batches'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of [...NOT_TEXT, ...NOTHING, '']) {
        const call = () => driver.reserveMany(['default'], 1, 60, value as string);
        await refused(call, INVALID, `worker ${inWords(value)}`);
      }
      equal(await driver.pending(), 1, 'pending');
    },
  }),
  aCase({
    id: 'plain-values/extend-many',
    name: 'What are no claims is refused by extendMany, and the claims stay as they are',
    rule: 'plain-values',
    needs: ['batchLeases'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      const held = await reserveOne(driver, { timeout: 60 });
      const lists = NOT_CLAIMS.map(([, broken]) => [held, broken(held)]);
      for (const value of [...lists, null, held, 'claims']) {
        const call = () => driver.extendMany(value as Claim[], 600);
        await refused(call, INVALID, `extendMany of ${inWords(value)}`);
      }
      clock.advance(60);
      await reserveOne(driver);
    },
  }),
  aCase({
    id: 'plain-values/within-delete',
    name: 'What is no claim is refused by a delete within a transaction, which stays usable',
    rule: 'plain-values',
    needs: ['transactions'],
    run: async ({ driver, begin, notes }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver);
      const transaction = await begin();
      const within = driver.within(transaction.tx);
      for (const [what, broken] of NOT_CLAIMS) {
        await refused(() => within.delete(broken(claim) as Claim), INVALID, `delete of ${what}`);
      }
      await transaction.note('after it');
      await transaction.commit();
      deepEqual(await notes(), ['after it'], 'the rows of the application');
      equal(await driver.delete(claim), true, 'the claim still holds');
    },
  }),
  aCase({
    id: 'plain-values/find',
    name: 'An id that is no whole number is refused by find and findFailed',
    rule: 'plain-values',
    needs: ['inspection'],
    run: async ({ driver }) => {
      await driver.push(aJob());
      for (const value of [{ id: 1 }, [1], '1', null, undefined, 1.5, Number.NaN, true, 1n]) {
        await refused(() => driver.find(value as number), INVALID, `find of ${inWords(value)}`);
        await refused(() => driver.findFailed(value as number), INVALID, `findFailed of ${inWords(value)}`);
      }
    },
  }),
  aCase({
    id: 'plain-values/rejects',
    name: 'A method that refuses a call rejects; it does not throw before it has given a promise',
    rule: 'plain-values',
    run: async ({ driver }) => {
      const answers = [
        () => driver.push(aJob({ name: '' })),
        () => driver.reserve([''], 60, 'w'),
        () => driver.delete(null as unknown as Claim),
        () => driver.pending(42 as unknown as string),
      ].map(promised);
      await Promise.allSettled(answers);
    },
  }),
];

/** What a call gives before anything is awaited: that it is refused is not asked here. */
function promised(call: () => Promise<unknown>): Promise<unknown> {
  try {
    const answer: unknown = call();
    ok(answer instanceof Object && 'then' in answer, `the call has to give a promise; it gave ${inWords(answer)}`);
    return Promise.resolve(answer);
  } catch (error) {
    return fail(`the call has to give a promise that rejects; it threw ${inWords(error)}`);
  }
}

function pushedText(role: 'name' | 'queue' | 'unique'): ConformanceCase {
  return aCase({
    id: `plain-values/${role}`,
    name: `A ${role} that is no text is refused by push, and nothing is stored`,
    rule: 'plain-values',
    run: async ({ driver }) => {
      // No unique key is null, undefined or '': those three are no mistake.
      for (const value of role === 'unique' ? NOT_TEXT : [...NOT_TEXT, ...NOTHING]) {
        await refused(() => driver.push(aJob({ [role]: value })), INVALID, `${role} ${inWords(value)}`);
      }
      await nothingStored(driver, `a ${role} that is no text`);
    },
  });
}

function handedBack(method: 'delete' | 'release' | 'fail'): ConformanceCase {
  return aCase({
    id: `plain-values/${method}`,
    name: `What is no claim is refused by ${method}, and the job stays where it is`,
    rule: 'plain-values',
    run: async ({ driver }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver);
      const act = (broken: Claim): Promise<boolean> =>
        method === 'delete'
          ? driver.delete(broken)
          : method === 'release'
            ? driver.release(broken, 0, '')
            : driver.fail(broken, '');
      for (const [what, broken] of NOT_CLAIMS) {
        await refused(() => act(broken(claim) as Claim), INVALID, `${method} of ${what}`);
      }
      equal(await driver.delete(claim), true, 'the claim still holds');
    },
  });
}

function errorText(method: 'release' | 'fail'): ConformanceCase {
  return aCase({
    id: `plain-values/${method}-error`,
    name: `An error that is no text is refused by ${method}, and the claim still holds`,
    rule: 'plain-values',
    run: async ({ driver }) => {
      await driver.push(aJob());
      const claim = await reserveOne(driver);
      for (const value of [...NOT_TEXT, ...NOTHING, new Error('no')]) {
        const error = value as string;
        const act = () => (method === 'fail' ? driver.fail(claim, error) : driver.release(claim, 0, error));
        await refused(act, INVALID, `${method} with the error ${inWords(value)}`);
      }
      equal(await driver.delete(claim), true, 'the claim still holds');
    },
  });
}
