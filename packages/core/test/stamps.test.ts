import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStamp, secondsAfter, secondsAt, secondsUpTo, stamp } from '../src/driver-kit/index.js';
import { inChild } from './fixtures.js';

const at = (iso: string) => new Date(iso);
const seconds = (iso: string) => Date.parse(iso) / 1000;

/** Any moment from 1970 to the end of 9998, to the millisecond. */
const moment = fc.integer({ min: 0, max: Date.parse('9998-12-31T23:59:59.999Z') }).map((ms) => new Date(ms));

describe('now', () => {
  it.each([
    ['2027-01-01T09:00:00.000Z', '2027-01-01T09:00:00Z'],
    ['2027-01-01T09:00:00.001Z', '2027-01-01T09:00:00Z'],
    ['2027-01-01T09:00:00.999Z', '2027-01-01T09:00:00Z'],
    ['1969-12-31T23:59:59.500Z', '1969-12-31T23:59:59Z'],
  ])('is rounded down: %s', (now, down) => {
    expect(secondsAt(at(now))).toBe(seconds(down));
  });

  it.each([0, -1, -300, Number.MIN_SAFE_INTEGER])('is what %d seconds from now is, so that nothing waits', (delay) => {
    expect(secondsAfter(at('2027-01-01T09:00:00.999Z'), delay)).toBe(seconds('2027-01-01T09:00:00Z'));
  });
});

describe('a delay', () => {
  it.each([
    ['2027-01-01T09:00:00.000Z', 1, '2027-01-01T09:00:01Z'],
    ['2027-01-01T09:00:00.001Z', 1, '2027-01-01T09:00:02Z'],
    ['2027-01-01T09:00:00.050Z', 60, '2027-01-01T09:01:01Z'],
    ['2027-01-01T09:00:00.950Z', 60, '2027-01-01T09:01:01Z'],
    ['2027-01-01T09:00:00.999Z', 60, '2027-01-01T09:01:01Z'],
    ['2027-12-31T23:59:59.500Z', 1, '2028-01-01T00:00:01Z'],
  ])('is rounded up: at %s, %d s', (now, delay, end) => {
    expect(secondsAfter(at(now), delay)).toBe(seconds(end));
  });

  it('never ends early, and has surely ended a second later', () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 1_000_000_000 }), (now, delay) => {
        const end = secondsAfter(now, delay);
        fc.pre(end < seconds('9999-12-31T23:59:59Z'));
        const dueMs = now.getTime() + delay * 1000;
        // Looked at with a clock that is rounded down, it has not ended a millisecond before its time …
        expect(end <= secondsAt(new Date(dueMs - 1))).toBe(false);
        // … and has a second after it.
        expect(end <= secondsAt(new Date(dueMs + 1000))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['beyond 32 bits', '2027-01-01T00:00:00Z', 2 ** 31, '2095-01-19T03:14:08Z'],
    ['beyond 32 bits by one', '2027-01-01T00:00:00Z', 2 ** 31 + 1, '2095-01-19T03:14:09Z'],
    ['of 400 days', '2027-01-01T00:00:00Z', 400 * 86_400, '2028-02-05T00:00:00Z'],
    ['over the end of signed 32-bit time', '2038-01-19T03:14:07.500Z', 1, '2038-01-19T03:14:09Z'],
    ['over the end of unsigned 32-bit time', '2106-02-07T06:28:15.500Z', 1, '2106-02-07T06:28:17Z'],
  ])('may be long: %s', (_, now, delay, end) => {
    expect(secondsAfter(at(now), delay)).toBe(seconds(end));
  });

  it.each([253_402_300_800, 8.64e12, Number.MAX_SAFE_INTEGER])('of %d s ends with the year 9999', (delay) => {
    expect(stamp(secondsAfter(at('2027-01-01T09:00:00.001Z'), delay))).toBe('9999-12-31 23:59:59');
  });
});

describe('a bound', () => {
  it.each([
    ['2027-01-01T00:00:00.000Z', '2027-01-01 00:00:00'],
    ['2027-01-01T00:00:00.001Z', '2027-01-01 00:00:01'],
    ['2026-12-31T23:59:59.999Z', '2027-01-01 00:00:00'],
    ['1969-12-31T23:59:59.500Z', '1970-01-01 00:00:00'],
  ])('is the first whole second that is not before it: %s', (moment, text) => {
    expect(stamp(secondsUpTo(at(moment)))).toBe(text);
  });

  it.each([
    [8.64e15, '9999-12-31 23:59:59'],
    [-8.64e15, '0000-01-01 00:00:00'],
  ])('is kept within what sorts as text: %d ms', (ms, text) => {
    expect(stamp(secondsUpTo(new Date(ms)))).toBe(text);
  });

  it('has just the whole seconds before it that its moment has', () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: -3, max: 3 }), (bound, offset) => {
        const second = secondsAt(bound) + offset;
        expect(second < secondsUpTo(bound)).toBe(second * 1000 < bound.getTime());
      }),
    );
  });
});

describe('a stamp', () => {
  it.each([
    ['1970-01-01T00:00:00Z', '1970-01-01 00:00:00'],
    ['2027-01-01T09:00:00Z', '2027-01-01 09:00:00'],
    ['2028-02-29T23:59:59Z', '2028-02-29 23:59:59'],
    ['2038-01-19T03:14:08Z', '2038-01-19 03:14:08'],
    ['2106-02-07T06:28:16Z', '2106-02-07 06:28:16'],
    ['9999-12-31T23:59:59Z', '9999-12-31 23:59:59'],
  ])('is UTC, to the second: %s', (iso, text) => {
    expect(stamp(seconds(iso))).toBe(text);
  });

  it('sorts as text in the order of time', () => {
    const second = fc.integer({ min: 0, max: 253_402_300_799 });
    fc.assert(
      fc.property(second, second, (a, b) => {
        expect(stamp(a) < stamp(b)).toBe(a < b);
      }),
    );
  });

  it('is read back as the moment it is of', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (second) => {
        expect(parseStamp(stamp(second)).getTime()).toBe(second * 1000);
      }),
    );
  });

  it.each([
    ['2027-01-01 09:00:00', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01T09:00:00', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01 09:00:00.25', '2027-01-01T09:00:00.250Z'],
    ['2027-01-01 09:00:00.123456', '2027-01-01T09:00:00.123Z'],
    ['2027-01-01 09:00:00Z', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01 09:00:00+00', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01 09:00:00+00:00', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01 09:00:00+05:45', '2027-01-01T03:15:00.000Z'],
    ['2027-01-01 09:00:00+0545', '2027-01-01T03:15:00.000Z'],
    ['2027-01-01 09:00:00-08', '2027-01-01T17:00:00.000Z'],
    ['2027-01-01 09:00:00.5+02', '2027-01-01T07:00:00.500Z'],
    ['2027-01-01 09:00', '2027-01-01T09:00:00.000Z'],
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
  ])('written by another hand is read as it was meant: %s', (text, iso) => {
    expect(parseStamp(text).toISOString()).toBe(iso);
  });
});

describe('the zone of the process', () => {
  // The hour that does not exist, the hour that exists twice, and the moments around both.
  const moments = [
    '2027-03-14T06:59:59Z',
    '2027-03-14T07:00:00Z',
    '2027-03-14T07:30:00Z',
    '2027-03-28T01:00:00Z',
    '2027-11-07T05:30:00Z',
    '2027-11-07T06:00:00Z',
    '2027-11-07T06:30:00Z',
    '2027-10-31T01:00:00Z',
  ];
  const script = `
    import { parseStamp, secondsAfter, secondsAt, stamp } from '@q/core/driver-kit';
    const answer = ${JSON.stringify(moments)}.map((iso) => {
      const now = new Date(iso);
      const text = stamp(secondsAt(now));
      return [text, stamp(secondsAfter(now, 3600)), parseStamp(text).toISOString(), now.getTimezoneOffset()];
    });
    console.log(JSON.stringify(answer));`;

  it.each(['America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Apia'])(
    'changes nothing: %s',
    async (zone) => {
      const { answer } = await inChild(script, { env: { TZ: zone } });
      expect(answer).toEqual(
        moments.map((iso) => {
          const hourLater = new Date(Date.parse(iso) + 3_600_000).toISOString();
          const text = (moment: string) => moment.slice(0, 19).replace('T', ' ');
          return [text(iso), text(hourLater), iso.replace('Z', '.000Z'), expect.any(Number)];
        }),
      );
      // The zone was in force: New York is not at UTC.
      expect((answer as number[][])[0]?.[3]).not.toBe(0);
    },
  );
});
