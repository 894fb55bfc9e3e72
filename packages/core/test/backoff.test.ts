import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelay, checkBackoff, checkJitter, DEFAULT_BACKOFF, withJitter } from '../src/backoff.js';
import { refusal } from './fixtures.js';

/** The delay, and what was reported on the way to it. */
function delayOf(backoff: unknown, attempt: number): { delay: number; reported: unknown[] } {
  const reported: unknown[] = [];
  const delay = backoffDelay(checkBackoff(backoff), attempt, (error) => reported.push(error));
  return { delay, reported };
}

const attempts = [0, 1, 2, 3, 9, 31, 32, 53, 64, 1_023, 1_024, 1_000_000, Number.MAX_SAFE_INTEGER];

describe('a list of backoffs', () => {
  it.each([
    [1, 10],
    [2, 60],
    [3, 300],
    [4, 300],
    [9, 300],
    [1_000_000, 300],
  ])('gives one per attempt and repeats its last: after attempt %d of [10, 60, 300], %d s', (attempt, delay) => {
    expect(delayOf([10, 60, 300], attempt)).toEqual({ delay, reported: [] });
  });

  it.each([0, -1, Number.NaN, 0.5])('gives its first before there was an attempt: %d', (attempt) => {
    expect(delayOf([10, 60, 300], attempt).delay).toBe(10);
  });

  it('is copied: changing it later changes nothing', () => {
    const list = [10];
    const checked = checkBackoff(list);
    list[0] = 99;
    expect(backoffDelay(checked, 1, () => {})).toBe(10);
  });

  it('has at least one delay', () => {
    expect(refusal(() => checkBackoff([]))).toEqual({
      code: 'invalid_option',
      message: 'A list of backoffs has to have at least one delay',
    });
  });

  it('raises what is below zero', () => {
    expect(checkBackoff([-5, 5])).toEqual([0, 5]);
  });

  it.each([[[10, Number.NaN]], [[10, '60']], [[10, undefined]], [[[10]]], [new Array(1)], [[0.5]]])(
    'holds whole numbers: %j',
    (list) => {
      expect(refusal(() => checkBackoff(list)).code).toBe('invalid_number');
    },
  );

  it('is 10, 60, 300 where nothing is said', () => {
    expect(DEFAULT_BACKOFF).toEqual([10, 60, 300]);
  });
});

describe('a constant backoff', () => {
  it.each(attempts)('is the same after every attempt: %d', (attempt) => {
    expect(delayOf(7, attempt)).toEqual({ delay: 7, reported: [] });
  });

  it('may be nothing at all, and is raised to that', () => {
    expect(checkBackoff(0)).toBe(0);
    expect(checkBackoff(-1)).toBe(0);
  });

  it.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [1e300, '1e+300'],
    [0.5, '0.5'],
    ['5', 'a string'],
    [5n, 'a bigint'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{}, 'an object'],
  ])('is a whole number: %s', (backoff, got) => {
    expect(refusal(() => checkBackoff(backoff))).toEqual({
      code: 'invalid_number',
      message: `A delay has to be a whole number; got ${got}`,
    });
  });
});

describe('a backoff function', () => {
  it('is called with the attempt', () => {
    expect(delayOf((attempt: number) => attempt * 3, 4)).toEqual({ delay: 12, reported: [] });
  });

  it('is not called when it is checked', () => {
    const calls: number[] = [];
    checkBackoff((attempt: number) => calls.push(attempt));
    expect(calls).toEqual([]);
  });

  it('may give less than nothing, which is nothing', () => {
    expect(delayOf(() => -1, 1)).toEqual({ delay: 0, reported: [] });
  });

  it.each<[string, unknown, string]>([
    ['NaN', Number.NaN, 'NaN'],
    ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
    ['1e300', 1e300, '1e+300'],
    ['a fraction', 2.5, '2.5'],
    ['text', '5', 'a string'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a bigint', 5n, 'a bigint'],
    ['a promise', Promise.resolve(5), 'an object'],
    ['a list', [5], 'a list'],
  ])('that gives nonsense is reported, and the default stands in: %s', (_, nonsense, got) => {
    for (const [attempt, delay] of [
      [1, 10],
      [2, 60],
      [3, 300],
      [1_000_000, 300],
    ] as const) {
      const { delay: given, reported } = delayOf(() => nonsense, attempt);
      expect(given).toBe(delay);
      expect(reported).toEqual([
        expect.objectContaining({ code: 'invalid_number', message: `A delay has to be a whole number; got ${got}` }),
      ]);
    }
  });

  it('that throws is reported with what it threw', () => {
    const lost = new Error('lost');
    expect(
      delayOf(() => {
        throw lost;
      }, 2),
    ).toEqual({ delay: 60, reported: [lost] });
    expect(
      delayOf(() => {
        throw undefined;
      }, 2),
    ).toEqual({ delay: 60, reported: [undefined] });
  });

  it('that grows beyond all numbers ends at the default, never at once', () => {
    for (const attempt of attempts) {
      const { delay } = delayOf((n: number) => 2 ** n, attempt);
      expect(Number.isSafeInteger(delay)).toBe(true);
      expect(delay).toBeGreaterThan(0);
    }
    expect(delayOf((n: number) => 2 ** n, 53).delay).toBe(300);
  });
});

describe('whatever the backoff', () => {
  it('the delay is a whole number of seconds, zero or more', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true }), fc.double(), (given, attempt) => {
        const delay = backoffDelay(
          () => given as number,
          attempt,
          () => {},
        );
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('jitter', () => {
  it('of 0 leaves the delay exact, and asks for no chance', () => {
    expect(withJitter(60, 0, () => 0.999)).toBe(60);
  });

  it('never makes a delay shorter, nor longer than its share', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.maxSafeNat(), share, random, (delay, jitter, chance) => {
        const given = withJitter(delay, jitter, () => chance);
        expect(Number.isSafeInteger(given)).toBe(true);
        expect(given).toBeGreaterThanOrEqual(delay);
        expect(given).toBeLessThanOrEqual(Math.min(delay + delay * jitter, Number.MAX_SAFE_INTEGER));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [10, 0.25, 12],
    [60, 0.2, 72],
    [1, 0.5, 1],
    [3, 1, 6],
    [0, 1, 0],
  ])('of a delay of %d s, at %d, adds up to %d s in all', (delay, jitter, most) => {
    expect(withJitter(delay, jitter, () => 0)).toBe(delay);
    expect(withJitter(delay, jitter, () => 1 - Number.EPSILON)).toBe(most);
  });

  it('keeps the longest delay there is a whole number', () => {
    expect(withJitter(Number.MAX_SAFE_INTEGER, 1, () => 0.999)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('spreads a thousand failures of one second', () => {
    const delays = Array.from({ length: 1_000 }, (_, index) => withJitter(60, 0.2, () => index / 1_000));
    expect(Math.min(...delays)).toBe(60);
    expect(Math.max(...delays)).toBe(72);
    expect(new Set(delays).size).toBe(13);
    expect(delays.reduce((sum, delay) => sum + delay, 0) / delays.length).toBeLessThanOrEqual(72);
  });

  it.each([0, 0.2, 1])('is a share: %d', (jitter) => {
    expect(checkJitter(jitter)).toBe(jitter);
  });

  it.each<[unknown, string]>([
    [-0.1, '-0.1'],
    [1.1, '1.1'],
    [20, '20'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['0.2', 'a string'],
    [true, 'a boolean'],
    [null, 'null'],
  ])('is nothing else: %s', (jitter, got) => {
    expect(refusal(() => checkJitter(jitter))).toEqual({
      code: 'invalid_number',
      message: `jitter has to be a share from 0 to 1; got ${got}`,
    });
  });
});
