import { equal, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { nothingStored, refused } from '../expectations.js';
import { aJob } from '../fixtures.js';

const PREFIX = 'A job payload has to be JSON encodable: ';

interface Refusal {
  readonly id: string;
  /** Begins the sentence "… is refused". */
  readonly what: string;
  readonly values: () => readonly unknown[];
}

/** What JSON would lose or change where it stands inside a payload. */
const INSIDE: readonly Refusal[] = [
  { id: 'function', what: 'A function', values: () => [() => 1, class {}] },
  { id: 'symbol', what: 'A symbol', values: () => [Symbol('a')] },
  { id: 'bigint', what: 'A bigint', values: () => [1n, Object(1n)] },
  { id: 'not-finite', what: 'NaN or Infinity', values: () => [Number.NaN, Number.POSITIVE_INFINITY, -1 / 0] },
  { id: 'minus-zero', what: 'Minus zero', values: () => [-0] },
  { id: 'cycle', what: 'A value that contains itself', values: () => [cycle()] },
  { id: 'undefined-in-a-list', what: 'Undefined in a list', values: () => [[undefined], [1, undefined]] },
  { id: 'sparse-list', what: 'A list with a hole', values: () => [sparse()] },
  { id: 'named-in-a-list', what: 'A list with a named property', values: () => [Object.assign([1], { name: 1 })] },
  {
    id: 'binary',
    what: 'Binary data',
    values: () => [Buffer.from('a'), new Uint8Array(2), new Float64Array(1), new DataView(new ArrayBuffer(1))],
  },
  { id: 'map-or-set', what: 'A Map or a Set', values: () => [new Map(), new Set([1]), new WeakMap()] },
  { id: 'regexp', what: 'A regular expression', values: () => [/a/] },
  { id: 'error', what: 'An error', values: () => [new Error('a')] },
  { id: 'promise', what: 'A promise', values: () => [Promise.resolve(1)] },
  {
    id: 'class-instance',
    what: 'An instance of a class without toJSON',
    values: () => [new Money(), Object.create({})],
  },
  { id: 'invalid-date', what: 'An invalid Date', values: () => [new Date(Number.NaN)] },
  { id: 'symbol-key', what: 'A key that is a symbol', values: () => [{ [Symbol('a')]: 1 }] },
  {
    id: 'hostile',
    what: 'A value that throws when it is read',
    values: () => [getter(), brokenToJson(), brokenProxy()],
  },
];

const TOP: readonly unknown[] = ['text', 42, true, null, undefined, Symbol('a'), () => 1, 1n, { toJSON: () => 'text' }];

export const refusedPayloads: readonly ConformanceCase[] = [
  ...INSIDE.map(({ id, what, values }) =>
    aCase({
      id: `refused-payloads/${id}`,
      name: `${what} in a payload is refused with its path, and nothing is stored`,
      rule: 'payload-strict',
      run: async ({ driver }) => {
        for (const value of values()) {
          const call = () => driver.push(aJob({ payload: { data: { list: [0, value] } } }));
          const { message } = await refused(call, 'payload_not_json', what);
          const expected = `${PREFIX}payload.data.list[1]`;
          ok(message.startsWith(expected), `the message has to begin with "${expected}"; it is "${message}"`);
        }
        await nothingStored(driver, what);
      },
    }),
  ),
  aCase({
    id: 'refused-payloads/top-level',
    name: 'A payload that is neither object nor list is refused, and nothing is stored',
    rule: 'payload-strict',
    run: async ({ driver }) => {
      for (const payload of TOP) {
        // The cast: a caller without a type checker.
        const call = () => driver.push(aJob({ payload: payload as object }));
        const { message } = await refused(call, 'payload_not_json', `a payload that is a ${typeof payload}`);
        ok(
          message.startsWith(`${PREFIX}payload: `),
          `the message has to begin with "${PREFIX}payload: "; it is "${message}"`,
        );
      }
      await nothingStored(driver, 'payloads that are no object');
    },
  }),
  aCase({
    id: 'refused-payloads/message',
    name: 'The refusal of a payload gives the path and the reason, and nothing of the payload’s values',
    rule: 'payload-strict',
    run: async ({ driver }) => {
      const payload = { user: { list: [{ secret: 'hunter2', id: new Account() }] } };
      const { message } = await refused(() => driver.push(aJob({ payload })), 'payload_not_json', 'a nested instance');
      const expected = `${PREFIX}payload.user.list[0].id: `;
      ok(message.startsWith(expected), `the message has to begin with "${expected}"; it is "${message}"`);
      ok(message.length > expected.length, 'the message has to say why');
      equal(message.includes('hunter2'), false, 'values may not appear in messages');
    },
  }),
];

class Money {
  readonly amount = 5;
}

class Account {
  readonly password = 'hunter2';
}

function cycle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

function sparse(): unknown[] {
  const list: unknown[] = [];
  list[1] = 1;
  return list;
}

function getter(): object {
  return Object.defineProperty({}, 'a', { enumerable: true, get: fails });
}

function brokenToJson(): object {
  return { toJSON: fails };
}

function brokenProxy(): object {
  return new Proxy({}, { ownKeys: fails });
}

function fails(): never {
  throw new Error('no');
}
