import { deepStrictEqual } from 'node:assert/strict';
import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePayload, encodePayload, MAX_PAYLOAD_DEPTH } from '../src/payload.js';
import { refusal } from './fixtures.js';

const notJson = (where: string, why: string) => ({
  code: 'payload_not_json',
  message: `A job payload has to be JSON encodable: ${where}: ${why}`,
});

const tooLarge = (bytes: number) => ({
  code: 'payload_too_large',
  message:
    `A job payload may have ${bytes} bytes of JSON (maxPayloadBytes); this one has more. ` +
    'Store the data where it belongs and queue its id',
});

/** `levels` arrays inside each other, built without recursion. */
function nestedLists(levels: number): unknown[] {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

function nestedObjects(levels: number): object {
  let value = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('a payload', () => {
  it.each<[string, unknown, string]>([
    ['an object', { id: 7 }, '{"id":7}'],
    ['a list', [1, 'a', true, false, null], '[1,"a",true,false,null]'],
    ['an empty object', {}, '{}'],
    ['an empty list', [], '[]'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['nesting', { a: [{ b: [[]] }], c: { d: {} } }, '{"a":[{"b":[[]]}],"c":{"d":{}}}'],
    ['a member of a subclass of Array', { a: new (class List extends Array {})() }, '{"a":[]}'],
    ['a frozen object', Object.freeze({ a: 1 }), '{"a":1}'],
    ['the same object twice', ((shared) => ({ a: shared, b: [shared] }))({ c: 1 }), '{"a":{"c":1},"b":[{"c":1}]}'],
  ])('is stored as compact JSON: %s', (_, payload, json) => {
    expect(encodePayload(payload)).toBe(json);
  });

  it('is stored with unicode and slashes as they are', () => {
    expect(encodePayload({ url: 'https://q.example/é/漢/😀', 'ключ/': '\u2028' })).toBe(
      '{"url":"https://q.example/é/漢/😀","ключ/":"\u2028"}',
    );
  });

  it.each<[string, string, string]>([
    ['a NUL', 'a\u0000b', '"a\\u0000b"'],
    ['a NUL alone', '\u0000', '"\\u0000"'],
    ['a high surrogate alone', '\ud800', '"\\ud800"'],
    ['a low surrogate alone', '\udc00x', '"\\udc00x"'],
    ['surrogates in the wrong order', '\ude00\ud83d', '"\\ude00\\ud83d"'],
    ['the six characters of an escape', '\\u0000', '"\\\\u0000"'],
    ['quotes and control characters', '"\b\t\n\f\r\u001f\u007f\\', '"\\"\\b\\t\\n\\f\\r\\u001f\u007f\\\\"'],
    ['half a pair at the end of 60 KB', `${'x'.repeat(60_000)}\ud83d`, `"${'x'.repeat(60_000)}\\ud83d"`],
  ])('brings text back the same, as value and as key: %s', (_, text, json) => {
    const encoded = encodePayload({ [text]: text }, 200_000);
    expect(encoded).toBe(`{${json}:${json}}`);
    expect(decodePayload(encoded)).toEqual({ [text]: text });
  });

  it.each<[number, string]>([
    [0, '0'],
    [-1, '-1'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [5e-324, '5e-324'],
    [Number.MAX_VALUE, '1.7976931348623157e+308'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ])('writes the number %d as JSON does', (number, json) => {
    expect(encodePayload([number])).toBe(`[${json}]`);
  });

  it('drops undefined properties, as JSON does', () => {
    expect(encodePayload({ a: undefined, b: { c: undefined }, d: 1 })).toBe('{"b":{},"d":1}');
  });

  it('leaves out what is not enumerable, as JSON does', () => {
    expect(encodePayload(Object.defineProperty({ a: 1 }, 'hidden', { value: 1n }))).toBe('{"a":1}');
  });

  it('keeps the order in which JSON writes keys', () => {
    expect(encodePayload({ b: 1, 2: 1, a: 1, 1: 1, '-1': 1 })).toBe('{"1":1,"2":1,"b":1,"a":1,"-1":1}');
  });
});

describe('whatever JSON can hold', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('😀', '\u0000', '"', '\\', '\ud800', '\udfff'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  );
  const text = fc.string({ unit, maxLength: 12 });
  const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'length', '0', '-1'));
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
  const { list, object } = fc.letrec<{ value: unknown; list: unknown[]; object: object }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(text, number, fc.integer(), fc.boolean(), fc.constant(null)),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 6 }),
    object: fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  }));
  const payload = fc.oneof(object, list);

  it('is written just as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(payload, (value) => {
        expect(encodePayload(value, 1_000_000)).toBe(JSON.stringify(value));
      }),
      { numRuns: 1_000 },
    );
  });

  it('comes back equal, and is written the same again', () => {
    fc.assert(
      fc.property(payload, (value) => {
        const json = encodePayload(value, 1_000_000);
        const decoded = decodePayload(json);
        deepStrictEqual(decoded, value);
        expect(encodePayload(decoded, 1_000_000)).toBe(json);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is never changed by being encoded', () => {
    fc.assert(
      fc.property(payload, (value) => {
        const before = JSON.stringify(value);
        encodePayload(value, 1_000_000);
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });
});

describe('a payload that JSON would lose or change is refused, with the path', () => {
  class Invoice {
    id = 1;
  }
  const Anonymous = (() => class {})();

  it.each<[string, unknown, string, string]>([
    ['a function', { a: () => {} }, 'payload.a', 'JSON has no function'],
    ['a class', { a: Invoice }, 'payload.a', 'JSON has no function'],
    [
      'a function with toJSON',
      { a: Object.assign(() => {}, { toJSON: () => 1 }) },
      'payload.a',
      'JSON has no function',
    ],
    ['a symbol', { a: [Symbol('x')] }, 'payload.a[0]', 'JSON has no symbol'],
    ['a bigint', { a: [{ b: 1n }] }, 'payload.a[0].b', 'JSON has no bigint'],
    ['NaN', { a: { b: Number.NaN } }, 'payload.a.b', 'JSON has no NaN'],
    ['Infinity', [[Number.POSITIVE_INFINITY]], 'payload[0][0]', 'JSON has no Infinity'],
    ['-Infinity', { 'a b': Number.NEGATIVE_INFINITY }, 'payload["a b"]', 'JSON has no -Infinity'],
    ['-0', { a: -0 }, 'payload.a', 'JSON.stringify turns −0 into 0'],
    [
      'undefined in a list',
      { a: [1, undefined] },
      'payload.a[1]',
      'JSON.stringify turns undefined in an array into null',
    ],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the case
    ['a hole in a list', { a: [1, , 3] }, 'payload.a[1]', 'JSON.stringify turns undefined in an array into null'],
    [
      'a huge sparse list',
      new Array(2 ** 32 - 1),
      'payload[0]',
      'JSON.stringify turns undefined in an array into null',
    ],
    [
      'a named property of a list',
      { a: Object.assign([1], { extra: 2 }) },
      'payload.a.extra',
      'JSON has no named properties of an array',
    ],
    ['a match', { a: /b/.exec('abc') }, 'payload.a.index', 'JSON has no named properties of an array'],
    ...['00', '', '-0', '0.0', '4294967295'].map((key): [string, unknown, string, string] => [
      `a list with the key "${key}", which is none of its places`,
      Object.defineProperty([1], key, { value: 2, enumerable: true }),
      `payload["${key}"]`,
      'JSON has no named properties of an array',
    ]),
    ['a key that is a symbol', { a: { [Symbol('kind')]: 1 } }, 'payload.a', 'JSON drops the key Symbol(kind)'],
    [
      'a key of a list that is a symbol',
      Object.assign([], { [Symbol.for('k')]: 1 }),
      'payload',
      'JSON drops the key Symbol(k)',
    ],
    ['a Map', { a: new Map() }, 'payload.a', 'an object of class Map is neither plain nor has toJSON'],
    ['a Set', { a: new Set() }, 'payload.a', 'an object of class Set is neither plain nor has toJSON'],
    ['a WeakMap', { a: new WeakMap() }, 'payload.a', 'an object of class WeakMap is neither plain nor has toJSON'],
    ['a RegExp', { a: /x/ }, 'payload.a', 'an object of class RegExp is neither plain nor has toJSON'],
    [
      'an Error',
      { a: new TypeError('x') },
      'payload.a',
      'an object of class TypeError is neither plain nor has toJSON',
    ],
    ['a Promise', { a: Promise.resolve() }, 'payload.a', 'an object of class Promise is neither plain nor has toJSON'],
    [
      'an instance of a class',
      { a: new Invoice() },
      'payload.a',
      'an object of class Invoice is neither plain nor has toJSON',
    ],
    ['an instance at the top', new Invoice(), 'payload', 'an object of class Invoice is neither plain nor has toJSON'],
    [
      'an instance of a class without a name',
      { a: new Anonymous() },
      'payload.a',
      'an object with a prototype is neither plain nor has toJSON',
    ],
    [
      'an object made of another',
      { a: Object.create({ b: 1 }) },
      'payload.a',
      'an object of class Object is neither plain nor has toJSON',
    ],
    [
      'an object on a bare root',
      { a: Object.create(Object.create(null)) },
      'payload.a',
      'an object with a prototype is neither plain nor has toJSON',
    ],
    ['a boxed number', { a: Object(1) }, 'payload.a', 'an object of class Number is neither plain nor has toJSON'],
    ['a boxed text', { a: Object('x') }, 'payload.a', 'an object of class String is neither plain nor has toJSON'],
    ['a boxed bigint', { a: Object(1n) }, 'payload.a', 'an object of class BigInt is neither plain nor has toJSON'],
    [
      'an ArrayBuffer',
      { a: new ArrayBuffer(1) },
      'payload.a',
      'an object of class ArrayBuffer is neither plain nor has toJSON',
    ],
    [
      'a Buffer, in spite of its toJSON',
      { a: Buffer.from('x') },
      'payload.a',
      'an object of class Buffer is binary; encode it as text first',
    ],
    [
      'a Buffer at the top',
      Buffer.from('x'),
      'payload',
      'an object of class Buffer is binary; encode it as text first',
    ],
    [
      'a typed array',
      { a: [new Uint8Array(1)] },
      'payload.a[0]',
      'an object of class Uint8Array is binary; encode it as text first',
    ],
    [
      'a DataView',
      { a: new DataView(new ArrayBuffer(1)) },
      'payload.a',
      'an object of class DataView is binary; encode it as text first',
    ],
    [
      'a generator',
      { a: (function* () {})() },
      'payload.a',
      'an object with a prototype is neither plain nor has toJSON',
    ],
    [
      'an AbortSignal',
      { a: new AbortController().signal },
      'payload.a',
      'an object of class AbortSignal is neither plain nor has toJSON',
    ],
    [
      'a stream',
      { a: new ReadableStream() },
      'payload.a',
      'an object of class ReadableStream is neither plain nor has toJSON',
    ],
    ['an invalid Date', { a: { at: new Date(Number.NaN) } }, 'payload.a.at', 'an invalid Date'],
  ])('%s', (_, payload, where, why) => {
    expect(refusal(() => encodePayload(payload))).toEqual(notJson(where, why));
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['text', 'x', 'a string'],
    ['a number', 1, 'a number'],
    ['a boolean', true, 'a boolean'],
    ['a bigint', 1n, 'a bigint'],
    ['a symbol', Symbol('x'), 'a symbol'],
    ['a function', () => {}, 'a function'],
    ['a Date', new Date(0), 'a string'],
    ['what becomes undefined', { toJSON: () => undefined }, 'undefined'],
    ['a URL', new URL('https://q.example'), 'a string'],
  ])('%s at the top', (_, payload, kind) => {
    expect(refusal(() => encodePayload(payload))).toEqual(
      notJson('payload', `${kind} stands where an object or an array has to be`),
    );
  });

  it('an object that contains itself', () => {
    const cyclic: Record<string, unknown> = { a: 1 };
    cyclic.b = [{ c: cyclic }];
    expect(refusal(() => encodePayload(cyclic))).toEqual(notJson('payload.b[0].c', 'it contains itself'));
  });

  it('a list that contains itself', () => {
    const cyclic: unknown[] = [];
    cyclic.push(0, [cyclic]);
    expect(refusal(() => encodePayload(cyclic))).toEqual(notJson('payload[1][0]', 'it contains itself'));
  });

  it('no value of the payload is in the message', () => {
    const { message } = refusal(() => encodePayload({ password: 'hunter2', a: [1n], hidden: { token: 'hunter2' } }));
    expect(message).not.toContain('hunter2');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a key of digits', { 0: 1n }, 'payload["0"]'],
    ['an empty key', { '': 1n }, 'payload[""]'],
    ['a key with a quote', { 'a"b': 1n }, 'payload["a\\"b"]'],
    ['a key with a line break', { 'a\nb': 1n }, 'payload["a\\nb"]'],
    ['a key with half a pair', { '\ud800': 1n }, 'payload["\\ud800"]'],
    ['a key with a dollar', { $a_1: 1n }, 'payload.$a_1'],
    ['a key of unicode', { é: 1n }, 'payload["é"]'],
    ['a long key', { ['k'.repeat(1_000_000)]: 1n }, `payload["${'k'.repeat(80)}…"]`],
  ])('the path shows %s', (_, payload, where) => {
    expect(refusal(() => encodePayload(payload))).toEqual(notJson(where, 'JSON has no bigint'));
  });

  it('the path leaves out the middle where it is long', () => {
    let payload: object = { end: 1n };
    for (let level = 0; level < 500; level += 1) payload = { [`k${level}`]: payload };
    expect(refusal(() => encodePayload(payload)).message).toBe(
      'A job payload has to be JSON encodable: ' +
        'payload.k499.k498.k497.k496.k495.k494.k493.k492.k491.k490 … .k8.k7.k6.k5.k4.k3.k2.k1.k0.end: JSON has no bigint',
    );
  });
});

describe('toJSON', () => {
  it('makes a Date its text', () => {
    expect(encodePayload({ at: new Date(0) })).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
  });

  it('is taken from anything that has it', () => {
    class Money {
      readonly #cents = 250;
      toJSON() {
        return { cents: this.#cents };
      }
    }
    expect(encodePayload({ a: new Money(), b: [new Money()], c: new URL('https://q.example/x') })).toBe(
      '{"a":{"cents":250},"b":[{"cents":250}],"c":"https://q.example/x"}',
    );
  });

  it('is called once, with the key, as JSON.stringify calls it', () => {
    const build = (keys: unknown[][]) => {
      const noting = (answer: unknown) => ({
        toJSON: (...args: unknown[]) => {
          keys.push(args);
          return answer;
        },
      });
      return noting({ a: noting(1), b: [0, noting({ c: noting(2) })] });
    };
    const ours: unknown[][] = [];
    const theirs: unknown[][] = [];
    expect(encodePayload(build(ours))).toBe(JSON.stringify(build(theirs)));
    expect(ours).toEqual([[''], ['a'], ['1'], ['c']]);
    expect(theirs).toEqual(ours);
  });

  it('drops a property for which it gives undefined', () => {
    expect(encodePayload({ a: { toJSON: () => undefined }, b: 1 })).toBe('{"b":1}');
  });

  it('may give null, except for a Date, where that means an invalid one', () => {
    expect(encodePayload({ a: { toJSON: () => null } })).toBe('{"a":null}');
    expect(encodePayload({ a: Object.assign(new Date(0), { toJSON: () => null }) })).toBe('{"a":null}');
  });

  it('is no member like another where it is not a function', () => {
    expect(encodePayload({ toJSON: 1 })).toBe('{"toJSON":1}');
  });

  it.each<[string, unknown, string]>([
    [
      'undefined inside a list',
      [{ toJSON: () => undefined }],
      'payload[0]: JSON.stringify turns undefined in an array into null',
    ],
    ['a function', { a: { toJSON: () => () => {} } }, 'payload.a: JSON has no function'],
    ['a bigint', { a: { toJSON: () => 1n } }, 'payload.a: JSON has no bigint'],
    ['a Map', { a: { toJSON: () => new Map() } }, 'payload.a: an object of class Map is neither plain nor has toJSON'],
    ['NaN', { a: { toJSON: () => Number.NaN } }, 'payload.a: JSON has no NaN'],
    ['an object with a bigint', { a: { toJSON: () => ({ b: 1n }) } }, 'payload.a.b: JSON has no bigint'],
    [
      'an object with a toJSON that nobody would call',
      { a: { toJSON: () => ({ toJSON: () => 1 }) } },
      'payload.a.toJSON: JSON has no function',
    ],
  ])('is refused where it gives %s', (_, payload, message) => {
    expect(refusal(() => encodePayload(payload)).message).toBe(`A job payload has to be JSON encodable: ${message}`);
  });

  it('that throws is a refusal with the cause', () => {
    const cause = new Error('lost');
    const payload = {
      a: {
        toJSON() {
          throw cause;
        },
      },
    };
    expect(refusal(() => encodePayload(payload))).toEqual(notJson('payload.a', 'its toJSON threw'));
    expect(() => encodePayload(payload)).toThrow(expect.objectContaining({ cause }));
  });

  it('that never ends is stopped at the depth limit', () => {
    class Endless {
      toJSON() {
        return { next: new Endless() };
      }
    }
    expect(refusal(() => encodePayload(new Endless())).message).toMatch(/: its depth is over 1000 levels$/);
  });
});

describe('what was checked is what is stored', () => {
  it('reads every getter once', () => {
    let reads = 0;
    const payload = {
      get a() {
        reads += 1;
        return reads === 1 ? 'first' : 1n;
      },
      list: Object.defineProperty([0], 0, { get: () => (reads += 1) }),
    };
    expect(encodePayload(payload)).toBe('{"a":"first","list":[2]}');
    expect(reads).toBe(2);
  });

  it('does not follow a list that grows while it is read', () => {
    const list: unknown[] = [];
    const grow = () => {
      Object.defineProperty(list, list.length, { enumerable: true, get: grow });
      return 1;
    };
    grow();
    expect(refusal(() => encodePayload(list))).toEqual(
      notJson('payload["1"]', 'JSON has no named properties of an array'),
    );
  });

  it('reads a Proxy as the object it shows', () => {
    expect(encodePayload(new Proxy({ a: [1] }, {}))).toBe('{"a":[1]}');
    expect(encodePayload({ a: new Proxy([1, 2], {}) })).toBe('{"a":[1,2]}');
  });

  it('refuses a getter that throws', () => {
    const payload = {
      a: {
        get b() {
          throw new RangeError('no');
        },
      },
    };
    expect(refusal(() => encodePayload(payload))).toEqual(notJson('payload.a.b', 'reading it threw'));
  });

  it('refuses a getter of toJSON that throws', () => {
    const payload = {
      get toJSON() {
        throw new RangeError('no');
      },
    };
    expect(refusal(() => encodePayload(payload))).toEqual(notJson('payload', 'its toJSON cannot be read'));
  });
});

describe('a Proxy that will not answer is a refusal, whatever it is asked for', () => {
  const no = () => {
    throw new TypeError('no');
  };
  const throwing = <T extends object>(target: T, ...traps: (keyof ProxyHandler<T>)[]) =>
    new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, no])));
  const revoked = (target: object) => {
    const { proxy, revoke } = Proxy.revocable(target, {});
    revoke();
    return proxy;
  };

  it.each<[string, unknown, string]>([
    ['revoked', { a: revoked({}) }, 'payload.a: its toJSON cannot be read'],
    ['revoked, of a list', { a: revoked([]) }, 'payload.a: its toJSON cannot be read'],
    ['revoked, at the top', revoked({}), 'payload: its toJSON cannot be read'],
    ['revoked, from a toJSON', { a: { toJSON: () => revoked([]) } }, 'payload.a: reading it threw'],
    ['its properties', { a: throwing({}, 'get') }, 'payload.a: its toJSON cannot be read'],
    ['its keys', { a: throwing({}, 'ownKeys') }, 'payload.a: its keys cannot be read'],
    ['the keys of a list', { a: throwing([1], 'ownKeys') }, 'payload.a: its keys cannot be read'],
    ['its descriptors', { a: throwing({ b: 1 }, 'getOwnPropertyDescriptor') }, 'payload.a: its keys cannot be read'],
    [
      'its prototype',
      { a: throwing({}, 'getPrototypeOf') },
      'payload.a: an object of class Object is neither plain nor has toJSON',
    ],
    [
      'the length of a list',
      { a: new Proxy([1], { get: (list, key) => (key === 'length' ? no() : Reflect.get(list, key)) }) },
      'payload.a: reading it threw',
    ],
    [
      'its prototype, when its toJSON gives null',
      { a: throwing(Object.assign(new Map(), { toJSON: no, b: 1 }), 'getPrototypeOf') },
      'payload.a: its toJSON threw',
    ],
    ['its class', throwing(new Map(), 'get', 'getPrototypeOf'), 'payload: its toJSON cannot be read'],
  ])('%s', (_, payload, message) => {
    expect(refusal(() => encodePayload(payload)).message).toBe(`A job payload has to be JSON encodable: ${message}`);
  });

  it('may give null from its toJSON without being taken for a Date', () => {
    expect(encodePayload({ a: throwing({ toJSON: () => null }, 'getPrototypeOf') })).toBe('{"a":null}');
  });
});

describe('an object of another realm', () => {
  const realm = createContext({});
  const made = (source: string): unknown => runInContext(source, realm);

  it.each<[string, string, string]>([
    ['a plain object', '({ a: { b: [1, null] } })', '{"a":{"b":[1,null]}}'],
    ['an object without a prototype', 'Object.assign(Object.create(null), { a: 1 })', '{"a":1}'],
    ['a list', '[[1], {}]', '[[1],{}]'],
    ['a Date', '({ at: new Date(0) })', '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['a class with toJSON', 'new (class A { toJSON() { return { a: 1 } } })()', '{"a":1}'],
  ])('is as good as one of this: %s', (_, source, json) => {
    expect(encodePayload(made(source))).toBe(json);
  });

  it.each<[string, string, string]>([
    ['a Map', '({ a: new Map() })', 'payload.a: an object of class Map is neither plain nor has toJSON'],
    ['an instance of a class', 'new (class A {})()', 'payload: an object of class A is neither plain nor has toJSON'],
    ['an Error', '({ a: new Error() })', 'payload.a: an object of class Error is neither plain nor has toJSON'],
    [
      'binary',
      '({ a: new Uint8Array(1) })',
      'payload.a: an object of class Uint8Array is binary; encode it as text first',
    ],
    ['an invalid Date', '({ a: new Date(NaN) })', 'payload.a: an invalid Date'],
    ['a function', '({ a() {} })', 'payload.a: JSON has no function'],
  ])('is as bad as one of this: %s', (_, source, message) => {
    expect(refusal(() => encodePayload(made(source))).message).toBe(
      `A job payload has to be JSON encodable: ${message}`,
    );
  });
});

describe('own keys named like parts of an object', () => {
  const json = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"toString":1}';

  it('survive the way there and back', () => {
    const payload: unknown = JSON.parse(json);
    expect(encodePayload(payload)).toBe(json);
    const decoded = decodePayload(json);
    expect(decoded).not.toBeNull();
    expect(Object.keys(decoded ?? {})).toEqual(['__proto__', 'constructor', 'toString']);
    expect(encodePayload(decoded)).toBe(json);
  });

  it('pollute nothing', () => {
    const decoded = decodePayload(json);
    encodePayload(decoded);
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });
});

describe('depth', () => {
  const tooDeep = /^A job payload has to be JSON encodable: payload.*: its depth is over 1000 levels$/;

  it.each([1, 2, 64, 999, MAX_PAYLOAD_DEPTH])('of %d levels is accepted, as lists and as objects', (levels) => {
    expect(encodePayload(nestedLists(levels))).toBe('['.repeat(levels) + ']'.repeat(levels));
    expect(encodePayload(nestedObjects(levels))).toBe(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`);
  });

  it.each([1_001, 10_000, 1_000_000])('of %d levels is refused, as lists and as objects', (levels) => {
    for (const payload of [nestedLists(levels), nestedObjects(levels)]) {
      const { code, message } = refusal(() => encodePayload(payload));
      expect(code).toBe('payload_not_json');
      expect(message).toMatch(tooDeep);
    }
  });

  it('counts containers, not what is in the innermost', () => {
    const innermost: unknown[] = [];
    let payload: unknown[] = innermost;
    for (let level = 1; level < MAX_PAYLOAD_DEPTH; level += 1) payload = [payload];
    innermost.push(1, 'a', null);
    expect(encodePayload(payload)).toContain('[1,"a",null]');
  });

  it('is no trouble for whoever pushes from deep in a call stack of their own', () => {
    const payload = nestedObjects(MAX_PAYLOAD_DEPTH);
    const call = (depth: number): string => (depth === 0 ? encodePayload(payload) : call(depth - 1));
    expect(call(2_000).length).toBe(5_996);
  });

  it('of a stored text may be any: reading is not recursive', () => {
    const levels = 100_000;
    expect(decodePayload('['.repeat(levels) + ']'.repeat(levels))).toHaveLength(1);
  });
});

describe('the limit on bytes', () => {
  const limit = 100;

  it.each<[string, string, number]>([
    ['1', 'x', 1],
    ['2', 'é', 2],
    ['3', '漢', 3],
    ['4', '😀', 4],
  ])('counts UTF-8: a character of %s bytes', (_, character, bytes) => {
    const overhead = '{"a":""}'.length;
    const room = limit - overhead;
    const text = character.repeat(Math.floor(room / bytes)) + 'x'.repeat(room % bytes);
    expect(Buffer.byteLength(encodePayload({ a: text }, limit))).toBe(limit);
    expect(Buffer.byteLength(encodePayload({ a: text.slice(0, -character.length) }, limit))).toBeLessThan(limit);
    expect(refusal(() => encodePayload({ a: `${text}x` }, limit))).toEqual(tooLarge(limit));
    expect(refusal(() => encodePayload({ a: text + character }, limit))).toEqual(tooLarge(limit));
  });

  it.each<[string, unknown]>([
    ['a list of numbers', [1, 22, 333, 1e21, -0.5]],
    ['a list of text', ['', 'a', '"', '\u0000', '\ud800', 'é']],
    ['a list of lists', [[], [[]], [[], []]]],
    ['literals', [true, false, null, { a: true, b: null }]],
    ['keys', { a: 1, é: 2, '"': 3, 'a b': { c: {} } }],
    ['dropped properties', { a: undefined, b: undefined, c: {} }],
    ['an empty object', {}],
  ])('is exact: %s', (_, payload) => {
    const json = JSON.stringify(payload);
    const bytes = Buffer.byteLength(json);
    expect(encodePayload(payload, bytes + 1)).toBe(json);
    expect(encodePayload(payload, bytes)).toBe(json);
    expect(refusal(() => encodePayload(payload, bytes - 1))).toEqual(tooLarge(bytes - 1));
  });

  it('counts an escape as it is stored', () => {
    expect(encodePayload({ a: '\u0000' }, 14)).toBe('{"a":"\\u0000"}');
    expect(refusal(() => encodePayload({ a: '\u0000' }, 13))).toEqual(tooLarge(13));
  });

  it('is 65,535 where nothing is said', () => {
    const fits = 'x'.repeat(65_535 - '{"a":""}'.length);
    expect(encodePayload({ a: fits })).toHaveLength(65_535);
    expect(refusal(() => encodePayload({ a: `${fits}x` }))).toEqual(tooLarge(65_535));
  });

  it('stops at once at a payload whose parts share their parts', () => {
    let payload: unknown[] = ['lol'];
    for (let level = 0; level < 200; level += 1) payload = [payload, payload];
    const start = performance.now();
    expect(refusal(() => encodePayload(payload))).toEqual(tooLarge(65_535));
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('stops at once at a text that no string could hold escaped', () => {
    const huge = '\u0000'.repeat(200_000_000);
    expect(refusal(() => encodePayload({ a: huge }))).toEqual(tooLarge(65_535));
  });
});

describe('a stored text', () => {
  it.each(['{}', '[]', '{"a":1}', ' [ 1 ] '])('that is an object or a list is decoded: %s', (json) => {
    expect(decodePayload(json)).toEqual(JSON.parse(json));
  });

  it.each([
    '',
    ' ',
    'null',
    '1',
    '"a"',
    'true',
    '{',
    '[1,]',
    "{'a':1}",
    'undefined',
    'NaN',
    '{"a":1}x',
    '\u0000',
    '\ufeff{}',
  ])('that is none does not decode: %j', (json) => {
    expect(decodePayload(json)).toBeNull();
  });
});
