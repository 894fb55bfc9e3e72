import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkDelay,
  checkInteger,
  checkLimit,
  checkMaxAttempts,
  checkPriority,
  checkQueues,
  checkText,
  checkTimeout,
  checkUnique,
  checkWorker,
  kindOf,
  shown,
  TEXT_LIMITS,
} from '../src/limits.js';
import { refusal } from './fixtures.js';

const invalidText = (message: string) => ({ code: 'invalid_text', message });
const invalidNumber = (message: string) => ({ code: 'invalid_number', message });

const WHO = { queue: 'A queue name', name: 'A job name', unique: 'A unique key', worker: 'A worker id' } as const;
const roles = ['queue', 'name', 'unique', 'worker'] as const;

describe.each(roles)('the text of a %s', (role) => {
  const who = WHO[role];
  const limit = TEXT_LIMITS[role];

  it.each(['a', '漢', '😀', 'é', 'ß'])(
    'may have as many characters as its column, whatever their bytes: %s',
    (character) => {
      const full = character.repeat(limit);
      expect(checkText(role, full)).toBe(full);
      expect(refusal(() => checkText(role, full + character)).message).toMatch(
        new RegExp(`^${who} has to have 1 to ${limit} characters; got ${limit + 1}: "`),
      );
    },
  );

  it('has at least one character', () => {
    expect(refusal(() => checkText(role, ''))).toEqual(
      invalidText(`${who} has to have 1 to ${limit} characters; got none`),
    );
  });

  it.each<[string, string]>([
    ['NUL', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['a tab', 'a\tb'],
    ['escape', 'a\u001bb'],
    ['DEL', 'a\u007fb'],
    ['next line', 'a\u0085b'],
    ['the last of the C1 controls', 'a\u009fb'],
    ['a line break at its end', 'a\n'],
  ])('holds no control character: %s', (_, text) => {
    expect(refusal(() => checkText(role, text))).toEqual(
      invalidText(`${who} may not hold control characters; got ${JSON.stringify(text)}`),
    );
  });

  it.each(['\ud800', '\udc00', 'a\ud800b', '\ude00\ud83d', '😀\ud83d', '\ud800\ud800'])(
    'holds no half of a surrogate pair: %j',
    (text) => {
      expect(refusal(() => checkText(role, text))).toEqual(
        invalidText(`${who} may not hold half a surrogate pair; got ${JSON.stringify(text)}`),
      );
    },
  );

  it.each([
    ' ',
    '\u00a0',
    '\u1680',
    '\u2000',
    '\u2003',
    '\u200a',
    '\u2028',
    '\u2029',
    '\u202f',
    '\u205f',
    '\u3000',
    '\ufeff',
  ])('has no white space at either end: %j', (space) => {
    for (const text of [`${space}a`, `a${space}`, space]) {
      expect(refusal(() => checkText(role, text))).toEqual(
        invalidText(`${who} may not begin or end with white space; got ${JSON.stringify(text)}`),
      );
    }
  });

  it.each([
    'a b',
    'a\u00a0b',
    'a\u2028b',
    'send-invoice',
    '__proto__',
    'constructor',
    "o'brien",
    'a"b',
    'a`b',
    'a\\b',
    'a%b',
    '../../x',
    '{}',
    '$a',
    '漢字',
    'e\u0301',
    '\u200b',
  ])('may hold anything else: %j', (text) => {
    expect(checkText(role, text)).toBe(text);
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [7, 'a number'],
    [true, 'a boolean'],
    [1n, 'a bigint'],
    [Symbol('x'), 'a symbol'],
    [() => {}, 'a function'],
    [['a'], 'a list'],
    [{ toString: () => 'a' }, 'an object'],
    [Object('a'), 'an object'],
  ])('is a plain string and nothing that becomes one: %s', (value, kind) => {
    expect(refusal(() => checkText(role, value))).toEqual(invalidText(`${who} has to be text; got ${kind}`));
  });

  it('is not printed at length when it is refused', () => {
    const { message } = refusal(() => checkText(role, 'x'.repeat(1_000_000)));
    expect(message).toBe(`${who} has to have 1 to ${limit} characters; got 1000000: "${'x'.repeat(80)}…"`);
  });
});

describe('text within the limits', () => {
  it('is given back as it is, and everything else is refused, whatever it is', () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(' ', '\u00a0', '\u0000', '\ud83d', '\ude00', '😀', 'a'),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 80 }), (text) => {
        const characters = [...text];
        const isWithin =
          characters.length >= 1 &&
          characters.length <= 64 &&
          text.trim() === text &&
          characters.every((character) => !/^[\p{Cc}\p{Cs}]$/u.test(character));
        if (isWithin) expect(checkText('queue', text)).toBe(text);
        else expect(refusal(() => checkText('queue', text)).code).toBe('invalid_text');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not normalised: what differs in bytes stays different', () => {
    expect(checkText('unique', '\u00e9')).toBe('\u00e9');
    expect(checkText('unique', 'e\u0301')).toBe('e\u0301');
  });

  it('never lets two keys through that only half a pair tells apart', () => {
    for (const key of ['\ud800', '\ud801']) expect(refusal(() => checkUnique(key)).code).toBe('invalid_text');
  });
});

describe('a unique key', () => {
  it.each(['', null, undefined])('may be left out: %j', (value) => {
    expect(checkUnique(value)).toBeNull();
  });

  it.each(['null', '0', 'A', 'a'])('is taken as it is: %j', (value) => {
    expect(checkUnique(value)).toBe(value);
  });

  it.each([0, false, [], {}])('is nothing that is merely falsy or empty: %j', (value) => {
    expect(refusal(() => checkUnique(value)).code).toBe('invalid_text');
  });
});

describe('a list of queues', () => {
  it('is copied', () => {
    const queues = ['high', 'default', 'high'];
    const checked = checkQueues(queues);
    expect(checked).toEqual(['high', 'default', 'high']);
    expect(checked).not.toBe(queues);
  });

  it('may be empty', () => {
    expect(checkQueues([])).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    ['default', 'a string'],
    [new Set(['default']), 'an object'],
    [{ length: 1, 0: 'default' }, 'an object'],
  ])('is a list and nothing else: %s', (queues, kind) => {
    expect(refusal(() => checkQueues(queues))).toEqual({
      code: 'invalid_option',
      message: `The queues to reserve from have to be a list; got ${kind}`,
    });
  });

  it('holds nothing but queue names', () => {
    expect(refusal(() => checkQueues(['default', 7]))).toEqual(
      invalidText('A queue name has to be text; got a number'),
    );
    expect(refusal(() => checkQueues(new Array(1)))).toEqual(invalidText('A queue name has to be text; got undefined'));
  });
});

describe('a worker id', () => {
  it('is cut to 64 characters, and never inside one', () => {
    expect(checkWorker('w'.repeat(200))).toBe('w'.repeat(64));
    expect(checkWorker('😀'.repeat(200))).toBe('😀'.repeat(64));
  });

  it('has no white space at the cut', () => {
    expect(checkWorker(`${'w'.repeat(63)} w`)).toBe('w'.repeat(63));
  });

  it.each([undefined, null, 7, ['w'], {}])('is text: %s', (value) => {
    expect(refusal(() => checkWorker(value)).code).toBe('invalid_text');
  });

  it('is checked like any other text', () => {
    expect(refusal(() => checkWorker('host\n1')).message).toBe(
      'A worker id may not hold control characters; got "host\\n1"',
    );
  });
});

describe('a whole number', () => {
  const notWhole: [unknown, string][] = [
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [0.5, '0.5'],
    [-0.1, '-0.1'],
    [2 ** 53, '9007199254740992'],
    [-(2 ** 53), '-9007199254740992'],
    [1e300, '1e+300'],
    ['5', 'a string'],
    ['', 'a string'],
    [5n, 'a bigint'],
    [true, 'a boolean'],
    [null, 'null'],
    [undefined, 'undefined'],
    [[5], 'a list'],
    [{ valueOf: () => 5 }, 'an object'],
    [Object(5), 'an object'],
    [new Date(5), 'an object'],
  ];

  it.each(notWhole)('is a safe integer and nothing that becomes one: %s', (value, got) => {
    const checks: [string, (value: unknown) => number][] = [
      ['A delay', checkDelay],
      ['A timeout', checkTimeout],
      ['A priority', checkPriority],
      ['The number of attempts', checkMaxAttempts],
      ['A limit', checkLimit],
      ['An id', (given) => checkInteger('An id', given)],
    ];
    for (const [what, check] of checks) {
      expect(refusal(() => check(value))).toEqual(invalidNumber(`${what} has to be a whole number; got ${got}`));
    }
  });

  it.each([
    ['a delay', checkDelay, 0],
    ['the number of attempts', checkMaxAttempts, 1],
    ['a limit', checkLimit, 1],
  ] as const)('below the floor of %s is raised to it', (_, check, floor) => {
    expect(check(floor)).toBe(floor);
    expect(check(floor - 1)).toBe(floor);
    expect(check(-5)).toBe(floor);
    expect(check(Number.MIN_SAFE_INTEGER)).toBe(floor);
    expect(check(floor + 1)).toBe(floor + 1);
  });

  it('has no floor as a timeout or a priority', () => {
    expect(checkTimeout(-5)).toBe(-5);
    expect(checkTimeout(Number.MIN_SAFE_INTEGER)).toBe(Number.MIN_SAFE_INTEGER);
    expect(checkPriority(-5)).toBe(-5);
  });

  it('is kept within the columns, which have 32 bits', () => {
    expect(checkPriority(2_147_483_647)).toBe(2_147_483_647);
    expect(checkPriority(2_147_483_648)).toBe(2_147_483_647);
    expect(checkPriority(Number.MIN_SAFE_INTEGER)).toBe(-2_147_483_647);
    expect(checkMaxAttempts(Number.MAX_SAFE_INTEGER)).toBe(2_147_483_647);
  });

  it('may be any safe integer as a delay or a timeout', () => {
    for (const seconds of [2 ** 31, 2 ** 31 + 1, 30 * 86_400, 400 * 86_400, Number.MAX_SAFE_INTEGER]) {
      expect(checkDelay(seconds)).toBe(seconds);
      expect(checkTimeout(seconds)).toBe(seconds);
    }
  });

  it('is 0 where it is −0', () => {
    for (const check of [checkDelay, checkTimeout, checkPriority]) expect(Object.is(check(-0), 0)).toBe(true);
    expect(Object.is(checkDelay(-1), 0)).toBe(true);
  });
});

describe('in a message', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [undefined, 'undefined'],
    ['secret', 'a string'],
    [1, 'a number'],
    [1n, 'a bigint'],
    [false, 'a boolean'],
    [Symbol('secret'), 'a symbol'],
    [() => 'secret', 'a function'],
    [['secret'], 'a list'],
    [{ secret: 1 }, 'an object'],
    [new Date(0), 'an object'],
  ])('a value is told by its kind alone: %s', (value, kind) => {
    expect(kindOf(value)).toBe(kind);
  });

  it('text is escaped and not longer than a line', () => {
    expect(shown('a"\n\u0000')).toBe('"a\\"\\n\\u0000"');
    expect(shown('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`);
    expect(shown('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…"`);
  });

  it('text that is cut inside a pair stays well-formed', () => {
    expect(shown(`${'x'.repeat(79)}😀`)).toBe(`"${'x'.repeat(79)}\\ud83d…"`);
  });
});
