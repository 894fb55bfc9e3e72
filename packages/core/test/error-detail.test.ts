import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ERROR_BYTES, trimErrorText } from '../src/driver-kit/index.js';
import { errorDetail, errorMessage, PlainFailure } from '../src/error-detail.js';

/** The detail without the frames of stacks, which name files. */
const withoutFrames = (detail: string) =>
  detail
    .split('\n')
    .filter((line) => !/^ {4}at /.test(line))
    .join('\n');

const firstLine = (text: string) => text.split('\n', 1)[0];

const no = () => {
  throw new TypeError('no');
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
  revoke();
  return proxy;
}

function withGetters(...keys: string[]): Error {
  const error = new Error('the message');
  for (const key of keys) Object.defineProperty(error, key, { get: no });
  return error;
}

class PaymentRefused extends Error {}

class Named extends Error {
  override readonly name = 'CardExpired';
}

describe('the detail of an error', () => {
  it.each<[string, Error, string]>([
    ['of Error', new Error('lost'), 'Error: lost'],
    ['of TypeError', new TypeError('lost'), 'TypeError: lost'],
    ['of a class without a name of its own', new PaymentRefused('card 7'), 'PaymentRefused: card 7'],
    ['of a class with another name', new Named('card 7'), 'Named [CardExpired]: card 7'],
    ['of an Error that was given a name', Object.assign(new Error('lost'), { name: 'MyError' }), 'MyError: lost'],
    ['of a DOMException', new DOMException('stopped', 'AbortError'), 'DOMException [AbortError]: stopped (code 20)'],
    ['with a code', Object.assign(new Error('in use'), { code: 'EADDRINUSE' }), 'Error: in use (code EADDRINUSE)'],
    ['with a code that is a number', Object.assign(new Error('dup'), { code: 1062 }), 'Error: dup (code 1062)'],
    ['without a message', new RangeError(), 'RangeError: '],
    ['of a message with unicode', new Error('é漢😀'), 'Error: é漢😀'],
    ['of a message that looks like a stack', new Error('at noon'), 'Error: at noon'],
  ])('begins with its class and message, verbatim: %s', (_, error, head) => {
    expect(firstLine(errorDetail(error))).toBe(head);
  });

  it('keeps every line of the message', () => {
    expect(withoutFrames(errorDetail(new Error('one\n  two\n\nthree\n')))).toBe('Error: one\n  two\n\nthree\n');
  });

  it('has the frames of the stack, once', () => {
    const lines = errorDetail(new PaymentRefused('card 7')).split('\n');
    expect(lines[1]).toMatch(/^ {4}at .*error-detail\.test\.ts:\d+:\d+/);
    expect(lines.filter((line) => line.includes('card 7'))).toEqual(['PaymentRefused: card 7']);
  });

  it('says the message as it is now, not as it was when the stack was made', () => {
    const error = new Error('before');
    error.message = 'after';
    expect(firstLine(errorDetail(error))).toBe('Error: after');
    expect(errorDetail(error)).not.toContain('before');
  });

  it('has the chain of causes', () => {
    const error = new Error('a', { cause: new TypeError('b', { cause: new PaymentRefused('c') }) });
    expect(withoutFrames(errorDetail(error))).toBe('Error: a\nCaused by: TypeError: b\nCaused by: PaymentRefused: c');
  });

  it.each<[string, unknown, string]>([
    ['text', 'socket closed', 'Thrown, but not an Error: socket closed'],
    ['a number', 0, 'Thrown, but not an Error: 0'],
    ['false', false, 'Thrown, but not an Error: false'],
    ['an object', { code: 7 }, 'Thrown, but not an Error: {"code":7}'],
  ])('has a cause that is no error: %s', (_, cause, text) => {
    expect(withoutFrames(errorDetail(new Error('a', { cause })))).toBe(`Error: a\nCaused by: ${text}`);
  });

  it.each([null, undefined])('has no cause that is %s', (cause) => {
    expect(withoutFrames(errorDetail(new Error('a', { cause })))).toBe('Error: a');
  });

  it('ends a chain of causes that is a circle', () => {
    const first = new Error('a');
    const second = new Error('b', { cause: first });
    first.cause = second;
    expect(withoutFrames(errorDetail(first))).toBe('Error: a\nCaused by: Error: b\nCaused by: an error above');
  });

  it('ends the chain of an error that caused itself', () => {
    const error = new Error('a');
    error.cause = error;
    expect(withoutFrames(errorDetail(error))).toBe('Error: a\nCaused by: an error above');
  });

  it('leaves out what is beyond 20 causes', () => {
    let error = new Error('0');
    for (let index = 1; index < 10_000; index += 1) error = new Error(String(index), { cause: error });
    const lines = withoutFrames(errorDetail(error)).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe('Error: 9999');
    expect(lines[19]).toBe('Caused by: Error: 9980');
    expect(lines[20]).toBe('Caused by: more causes, left out');
  });

  it('has the first ten of the errors of an AggregateError', () => {
    const errors = Array.from({ length: 5_000 }, (_, index) => new TypeError(`e${index}`));
    const listed = Array.from({ length: 10 }, (_, index) => `  - TypeError: e${index}`);
    expect(withoutFrames(errorDetail(new AggregateError(errors, 'all failed')))).toBe(
      ['AggregateError: all failed', ...listed, '  - and 4990 more'].join('\n'),
    );
  });

  it('of an AggregateError without a message is, in a line, that of the first error it has', () => {
    expect(errorMessage(new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('x')]))).toBe(
      'connect ECONNREFUSED ::1:5432',
    );
    expect(errorMessage(new AggregateError([]))).toBe('AggregateError');
  });

  it('has errors of an AggregateError that are none', () => {
    expect(withoutFrames(errorDetail(new AggregateError(['x', undefined, null, new Error('one\ntwo')], 'all')))).toBe(
      'AggregateError: all\n  - x\n  - undefined\n  - null\n  - Error: one',
    );
  });
});

describe('the detail of anything else that was thrown', () => {
  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['text', 'socket closed', 'socket closed'],
    ['empty text', '', ''],
    ['a number', 42, '42'],
    ['NaN', Number.NaN, 'NaN'],
    ['a bigint', 7n, '7'],
    ['a boolean', false, 'false'],
    ['a symbol', Symbol('lost'), 'Symbol(lost)'],
    ['an object', { status: 500, body: 'x' }, '{"status":500,"body":"x"}'],
    ['a list', [1, 'a'], '[1,"a"]'],
    ['an empty object', {}, '{}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['an object with a bigint', { a: 1n }, '[object Object]'],
    ['an object whose toJSON throws', { toJSON: no }, '[object Object]'],
    ['an object whose toJSON gives undefined', { toJSON: () => undefined }, '[object Object]'],
    ['a Map', new Map([[1, 2]]), '{}'],
    ['a Promise', Promise.resolve(), '{}'],
    ['a function', function lost() {}, 'function lost'],
    ['a class', PaymentRefused, 'function PaymentRefused'],
    ['a function whose name is an object', Object.defineProperty(() => {}, 'name', { value: {} }), 'function '],
    [
      'a function whose name becomes no text',
      Object.defineProperty(() => {}, 'name', { value: Object.create(null) }),
      'function ',
    ],
    ['a function whose name is a symbol', Object.defineProperty(() => {}, 'name', { value: Symbol('x') }), 'function '],
    ['a function whose name throws', Object.defineProperty(() => {}, 'name', { get: no }), 'function '],
    ['a circle', ((circle) => Object.assign(circle, { circle }))({}), '[object Object]'],
    ['a revoked Proxy', revoked(), '[object]'],
    [
      'a Proxy that throws whatever it is asked',
      new Proxy({}, { get: no, has: no, ownKeys: no, getPrototypeOf: no }),
      '[object]',
    ],
  ])('says what it was: %s', (_, thrown, text) => {
    expect(errorDetail(thrown)).toBe(`Thrown, but not an Error: ${text}`);
  });
});

describe('an error that is out of order', () => {
  it.each<[string, Error, string]>([
    ['a getter of message that throws', withGetters('message'), 'Error: '],
    ['a getter of name that throws', withGetters('name'), 'Error: the message'],
    ['a getter of stack that throws', withGetters('stack'), 'Error: the message'],
    ['a getter of cause that throws', withGetters('cause'), 'Error: the message'],
    ['a getter of errors that throws', withGetters('errors'), 'Error: the message'],
    ['a getter of code that throws', withGetters('code'), 'Error: the message'],
    ['a getter of constructor that throws', withGetters('constructor'), 'Error: the message'],
    [
      'every getter throwing',
      withGetters('stack', 'message', 'name', 'cause', 'errors', 'code', 'constructor'),
      'Error: ',
    ],
    ['a name that is an object', Object.assign(new Error('the message'), { name: {} }), 'Error: the message'],
    ['a stack that is a number', Object.assign(new Error('the message'), { stack: 42 }), 'Error: the message'],
    ['no stack', Object.assign(new Error('the message'), { stack: undefined }), 'Error: the message'],
    ['a stack without frames', Object.assign(new Error('the message'), { stack: 'x' }), 'Error: the message'],
    ['a message that is an object', Object.assign(new Error(), { message: { reason: 7 } }), 'Error: {"reason":7}'],
    ['a message that is a symbol', Object.assign(new Error(), { message: Symbol('x') }), 'Error: Symbol(x)'],
    ['a message that is null', Object.assign(new Error(), { message: null }), 'Error: null'],
    ['a constructor that is none', Object.assign(new Error('the message'), { constructor: 7 }), 'Error: the message'],
    ['no prototype', Object.setPrototypeOf(new Error('the message'), null), 'Error: the message'],
    [
      'errors that are no list',
      Object.assign(new Error('the message'), { errors: { length: 3 } }),
      'Error: the message',
    ],
    [
      'errors that are a Proxy which throws',
      Object.assign(new Error('the message'), { errors: new Proxy([1], { get: no }) }),
      'Error: the message',
    ],
    [
      'a revoked Proxy as its cause',
      new Error('the message', { cause: revoked() }),
      'Error: the message\nCaused by: Thrown, but not an Error: [object]',
    ],
  ])('says what can be said of it: %s', (_, error, head) => {
    expect(withoutFrames(errorDetail(error))).toBe(head);
    expect(() => errorMessage(error)).not.toThrow();
  });

  it('of another realm is an error like any other', () => {
    const realm = createContext({});
    expect(firstLine(errorDetail(runInContext('new TypeError("lost")', realm)))).toBe('TypeError: lost');
    expect(errorDetail(runInContext('Object.assign(new TypeError("lost"), { stack: 42 })', realm))).toBe(
      'TypeError: lost',
    );
  });

  it('that only looks like one is taken for one', () => {
    expect(errorDetail({ name: 'Odd', message: 'lost', stack: 'Odd: lost\n    at x' })).toBe(
      'Object [Odd]: lost\n    at x',
    );
  });
});

describe('a failure of q’s own making', () => {
  it('is its message and no more', () => {
    expect(errorDetail(new PlainFailure('The job ran past the timeout'))).toBe('The job ran past the timeout');
  });
});

describe('an error that is too big', () => {
  it.each<[string, () => unknown]>([
    ['a message of 20 MB', () => new Error('x'.repeat(20_000_000))],
    ['a message of 20 MB of line breaks', () => new Error('\n'.repeat(20_000_000))],
    ['a message of 2 MB of line breaks and a word', () => new Error(`${'\n'.repeat(2_000_000)}x`)],
    ['a message of 20 MB of spaces', () => new Error(' '.repeat(20_000_000))],
    ['a message of 5 million short lines of spaces', () => new Error('\n   '.repeat(5_000_000))],
    ['a message of almost frames', () => new Error('\n    a'.repeat(3_000_000))],
    ['400,000 bytes of 4-byte characters', () => new Error('😀'.repeat(100_000))],
    ['20 MB of text', () => 'x'.repeat(20_000_000)],
    ['a cause of 20 MB', () => new Error('a', { cause: new Error('x'.repeat(20_000_000)) })],
    [
      '20 causes of 1 MB',
      () => {
        let error = new Error('end');
        for (let index = 0; index < 20; index += 1) error = new Error('x'.repeat(1_000_000), { cause: error });
        return error;
      },
    ],
    ['5,000 errors of 1 MB', () => new AggregateError(Array(5_000).fill(new Error('x'.repeat(1_000_000))), 'all')],
    [
      '10,000 causes in a circle',
      () => {
        const first = new Error('first');
        let error = first;
        for (let index = 0; index < 10_000; index += 1) error = new Error('x', { cause: error });
        first.cause = error;
        return error;
      },
    ],
    ['a stack of 20 MB', () => Object.assign(new Error('a'), { stack: `Error: a\n${'    at x\n'.repeat(2_000_000)}` })],
    ['a name of 20 MB', () => Object.assign(new Error('a'), { name: 'x'.repeat(20_000_000) })],
    ['a code of 20 MB', () => Object.assign(new Error('a'), { code: 'x'.repeat(20_000_000) })],
    ['a symbol, inside an error', () => Object.assign(new Error('a'), { message: Symbol('x'.repeat(20_000_000)) })],
    ['an object of 20 MB', () => ({ a: 'x'.repeat(20_000_000) })],
    ['a symbol of 20 MB', () => Symbol('x'.repeat(20_000_000))],
  ])('is told in no time, and in no more than can be handled: %s', (_, make) => {
    const thrown = make();
    const start = performance.now();
    const detail = errorDetail(thrown);
    const line = errorMessage(thrown);
    const stored = trimErrorText(detail);
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(detail.length).toBeLessThan(5 * MAX_ERROR_BYTES);
    expect(line.length).toBeLessThanOrEqual(501);
    expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(MAX_ERROR_BYTES + '\n... truncated'.length);
  });
});

describe('the line of an error', () => {
  it.each<[string, unknown, string]>([
    ['its message', new TypeError('lost'), 'lost'],
    ['the first line of its message', new Error('one\ntwo'), 'one'],
    ['the first line of a message from Windows', new Error('one\r\ntwo'), 'one'],
    ['nothing that a terminal would write over it', new Error('one\rtwo'), 'one'],
    ['its class where it has no message', new PaymentRefused(), 'PaymentRefused'],
    ['what else was thrown', 'socket closed', 'socket closed'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('lost'), 'Symbol(lost)'],
    ['an object', { code: 7 }, '{"code":7}'],
    ['a failure of q’s own', new PlainFailure('The job ran past the timeout'), 'The job ran past the timeout'],
    ['a revoked Proxy', revoked(), '[object]'],
  ])('is %s', (_, thrown, line) => {
    expect(errorMessage(thrown)).toBe(line);
  });

  it('has at most 500 characters, and the sign that there were more', () => {
    expect(errorMessage(new Error('x'.repeat(500)))).toBe('x'.repeat(500));
    expect(errorMessage(new Error('x'.repeat(501)))).toBe(`${'x'.repeat(500)}…`);
  });
});

describe('whatever is thrown', () => {
  it('has a detail and a line', () => {
    const thrown = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(thrown, thrown, (value, cause) => {
        for (const each of [
          value,
          new Error('a', { cause }),
          Object.assign(new Error(), { message: value, name: cause }),
        ]) {
          expect(typeof errorDetail(each)).toBe('string');
          expect(errorMessage(each)).not.toContain('\n');
        }
      }),
      { numRuns: 500 },
    );
  });
});
