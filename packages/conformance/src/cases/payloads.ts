import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { nothingStored, refused } from '../expectations.js';
import { aJob, aRow, only, reserveOne, rowOf } from '../fixtures.js';

/** Payloads and the text they are stored as: as JSON.stringify writes it. */
const TEXTS: readonly (readonly [object, string])[] = [
  [{ id: 7 }, '{"id":7}'],
  [{}, '{}'],
  [[], '[]'],
  [[1, 'a', null, true, [{}]], '[1,"a",null,true,[{}]]'],
  [{ b: 1, a: 2, 10: 3 }, '{"10":3,"b":1,"a":2}'],
  [
    { url: 'https://example.org/a?b', text: 'é € 😀 \u2028' },
    '{"url":"https://example.org/a?b","text":"é € 😀 \u2028"}',
  ],
  [{ s: '"\\\n\t\u0001' }, '{"s":"\\"\\\\\\n\\t\\u0001"}'],
  [{ n: [0.1, 1e21, -5, 9007199254740991, 5e-324] }, '{"n":[0.1,1e+21,-5,9007199254740991,5e-324]}'],
  [{ a: undefined, b: 1 }, '{"b":1}'],
  [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  [{ money: { toJSON: () => ({ amount: 5 }) } }, '{"money":{"amount":5}}'],
  [{ toJSON: () => ['whole'] }, '["whole"]'],
  [{ literal: '\\u0000 \\ud800' }, '{"literal":"\\\\u0000 \\\\ud800"}'],
];

/** Text that a store may be unable to hold as it is, and holds as its JSON escape. */
const ESCAPED: readonly (readonly [string, string])[] = [
  ['a\0b', '"a\\u0000b"'],
  ['\ud800', '"\\ud800"'],
  ['\udc00x', '"\\udc00x"'],
  [`${'x'.repeat(60_000)}\ud83d`, `"${'x'.repeat(60_000)}\\ud83d"`],
];

export const payloads: readonly ConformanceCase[] = [
  aCase({
    id: 'payloads/compact-text',
    name: 'A payload is stored as compact JSON, unicode and slashes unescaped, keys in their order',
    rule: 'payload-text',
    run: async ({ driver }) => {
      for (const [payload, text] of TEXTS) {
        await driver.push(aJob({ payload }));
        const job = await reserveOne(driver);
        equal(job.payloadJson, text, 'the stored text');
        deepEqual(job.payload, JSON.parse(text), 'the payload');
      }
    },
  }),
  aCase({
    id: 'payloads/escapes',
    name: 'NUL and half a surrogate pair in a value or a key are stored as their JSON escapes, and come back',
    rule: 'payload-text',
    run: async ({ driver }) => {
      for (const [text, escaped] of ESCAPED) {
        await driver.push(aJob({ payload: [text] }));
        const value = await reserveOne(driver);
        deepEqual([value.payload, value.payloadJson], [[text], `[${escaped}]`], 'as a value');
        await driver.push(aJob({ payload: { [text]: 1 } }));
        const key = await reserveOne(driver);
        deepEqual([key.payload, key.payloadJson], [{ [text]: 1 }, `{${escaped}:1}`], 'as a key');
      }
    },
  }),
  aCase({
    id: 'payloads/proto-keys',
    name: 'Keys such as __proto__ survive as own keys and pollute nothing',
    rule: 'payload-text',
    run: async ({ driver }) => {
      const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"a":{"__proto__":1}}';
      await driver.push(aJob({ payload: JSON.parse(text) as object }));
      const job = await reserveOne(driver);
      equal(job.payloadJson, text, 'the stored text');
      deepEqual(Object.keys(job.payload), ['__proto__', 'constructor', 'a'], 'the own keys');
      equal(Object.getPrototypeOf(job.payload), Object.getPrototypeOf({}), 'the prototype');
      ok(!('polluted' in {}), 'other objects');
    },
  }),
  aCase({
    id: 'payloads/read-once',
    name: 'What was checked is what is stored: every value of a payload is read once',
    rule: 'payload-strict',
    run: async ({ driver }) => {
      let reads = 0;
      const payload = Object.defineProperty({}, 'n', { enumerable: true, get: () => (reads++ === 0 ? 1 : Number.NaN) });
      await driver.push(aJob({ payload }));
      equal((await reserveOne(driver)).payloadJson, '{"n":1}', 'the stored text');
    },
  }),
  aCase({
    id: 'payloads/byte-for-byte',
    name: 'A stored payload is handed out and failed byte for byte, however it was written',
    rule: 'payload-bytes',
    needs: ['insertRow', 'failedRows'],
    run: async ({ driver, clock, insertRow, failedRows }) => {
      const payloadJson = ' {"b": 1, "a":1.0,\n"b":12345678901234567890, "\\u0061": "\\/" } \n';
      await insertRow(aRow(clock.now(), { payloadJson }));
      const job = await reserveOne(driver);
      equal(job.payloadJson, payloadJson, 'payloadJson');
      await driver.fail(job, 'no');
      equal(only(await failedRows()).payloadJson, payloadJson, 'the text in the failed store');
    },
  }),
  aCase({
    id: 'payloads/size-limit',
    name: 'A payload of 65,535 bytes of JSON is stored whole; one byte more is refused, and nothing is stored',
    rule: 'payload-size',
    needs: ['jobRows'],
    run: async ({ driver, jobRows }) => {
      for (const [character, width] of [
        ['x', 1],
        ['é', 2],
        ['😀', 4],
      ] as const) {
        const fill = 'x'.repeat((65_535 - 4) % width) + character.repeat(Math.floor((65_535 - 4) / width));
        const what = `a payload of characters of ${width} bytes`;
        await refused(() => driver.push(aJob({ payload: [`${fill}x`] })), 'payload_too_large', `${what}, 65,536 bytes`);
        await nothingStored(driver, what);
        const id = await driver.push(aJob({ payload: [fill] }));
        equal(rowOf(await jobRows(), id).payloadJson, JSON.stringify([fill]), `${what}, 65,535 bytes`);
        await driver.delete(await reserveOne(driver));
      }
    },
  }),
  aCase({
    id: 'payloads/depth-limit',
    name: 'A payload 1,000 levels deep is stored; a deeper one is refused, and is no overflow of the stack',
    rule: 'payload-strict',
    run: async ({ driver }) => {
      for (const depth of [1_001, 10_000, 100_000]) {
        for (const inObjects of [true, false]) {
          const call = () => driver.push(aJob({ payload: nested(depth, inObjects) }));
          match((await refused(call, 'payload_not_json', `depth ${depth}`)).message, /depth/, 'the message');
        }
      }
      await nothingStored(driver, 'payloads too deep');
      await driver.push(aJob({ payload: nested(1_000, false) }));
      equal((await reserveOne(driver)).payloadJson, '['.repeat(1_000) + ']'.repeat(1_000), 'the stored text');
    },
  }),
];

function nested(depth: number, inObjects: boolean): object {
  let value: object = inObjects ? {} : [];
  for (let level = 1; level < depth; level += 1) value = inObjects ? { a: value } : [value];
  return value;
}
