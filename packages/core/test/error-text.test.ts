import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_ERROR_BYTES, trimErrorText } from '../src/driver-kit/index.js';
import { refusal } from './fixtures.js';

const SUFFIX = '\n... truncated';
const bytes = (text: string) => Buffer.byteLength(text);

describe('an error text', () => {
  it.each(['', 'x', 'a\nb', 'é漢😀', '\t\r\n\u001b[31m'])('that is short is left alone: %j', (text) => {
    expect(trimErrorText(text)).toBe(text);
  });

  it.each<[string, string]>([
    ['1 byte', 'x'],
    ['2 bytes', 'é'],
    ['3 bytes', '漢'],
    ['4 bytes', '😀'],
  ])('of exactly 60,000 bytes is left alone: characters of %s', (_, character) => {
    const text = character.repeat(60_000 / bytes(character));
    expect(bytes(text)).toBe(60_000);
    expect(trimErrorText(text)).toBe(text);
  });

  it('of one byte more is cut to 60,000', () => {
    expect(trimErrorText('x'.repeat(60_001))).toBe('x'.repeat(60_000) + SUFFIX);
  });

  it.each<[string, string, number]>([
    ['é', 'x', 59_999],
    ['漢', 'x', 59_998],
    ['漢', 'xx', 59_999],
    ['😀', 'x', 59_997],
    ['😀', 'xx', 59_998],
    ['😀', 'xxx', 59_999],
  ])('is cut between two characters: %s after %s', (character, before, length) => {
    const trimmed = trimErrorText(before + character.repeat(60_000));
    const kept = trimmed.slice(0, -SUFFIX.length);
    expect(trimmed.endsWith(SUFFIX)).toBe(true);
    expect(kept).toBe(before + character.repeat((length - before.length) / bytes(character)));
    expect(bytes(kept)).toBe(length);
  });

  it.each([59_996, 59_997, 59_998, 59_999, 60_000, 60_001])(
    'keeps or drops a pair whole: one at character %d',
    (at) => {
      const trimmed = trimErrorText(`${'x'.repeat(at)}😀${'y'.repeat(10)}`);
      const kept = trimmed.slice(0, -SUFFIX.length);
      expect(kept).toBe(at === 59_996 ? `${'x'.repeat(at)}😀` : 'x'.repeat(Math.min(at, 60_000)));
    },
  );

  it('has no NUL, which Postgres could not hold', () => {
    expect(trimErrorText('a\0b\0')).toBe('a\ufffdb\ufffd');
  });

  it.each([
    ['\ud800', '\ufffd'],
    ['a\udc00b', 'a\ufffdb'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['😀\ud83d', '😀\ufffd'],
  ])('has no half of a surrogate pair: %j', (text, trimmed) => {
    expect(trimErrorText(text)).toBe(trimmed);
  });

  it('is measured after that: a replacement has three bytes', () => {
    expect(trimErrorText('\0'.repeat(20_000))).toBe('\ufffd'.repeat(20_000));
    expect(trimErrorText('\0'.repeat(20_001))).toBe('\ufffd'.repeat(20_000) + SUFFIX);
  });

  it('of 20 MB takes no time', () => {
    const texts = ['x', '😀', '\0', '\ud800', '\n'].map((unit) => unit.repeat(20_000_000 / unit.length));
    const start = performance.now();
    for (const text of texts) expect(bytes(trimErrorText(text))).toBeLessThanOrEqual(60_000 + SUFFIX.length);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('can be stored, whatever it was', () => {
    const unit = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('😀', '\0', '\ud83d', '\ude00', 'x', 'é', '漢'),
    );
    const text = fc
      .tuple(fc.string({ unit, minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 4_000 }), fc.string({ unit }))
      .map(([piece, times, end]) => piece.repeat(times) + end);
    fc.assert(
      fc.property(text, (given) => {
        const trimmed = trimErrorText(given);
        const isCut = trimmed.endsWith(SUFFIX);
        const kept = isCut ? trimmed.slice(0, -SUFFIX.length) : trimmed;
        const clean = given.replace(/\0|\p{Surrogate}/gu, '\ufffd');
        expect(/\0|\p{Surrogate}/u.test(trimmed)).toBe(false);
        expect(bytes(kept)).toBeLessThanOrEqual(MAX_ERROR_BYTES);
        expect(isCut).toBe(bytes(clean) > MAX_ERROR_BYTES);
        expect(clean.startsWith(kept)).toBe(true);
        // No character more would have fitted.
        if (isCut)
          expect(bytes(kept) + bytes([...clean.slice(kept.length, kept.length + 2)][0] ?? '')).toBeGreaterThan(
            MAX_ERROR_BYTES,
          );
      }),
      { numRuns: 300 },
    );
  });

  it('is stable: trimmed again it is cut no further than its suffix', () => {
    const trimmed = trimErrorText('x'.repeat(100_000));
    expect(trimErrorText(trimmed)).toBe(trimmed);
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [42, 'a number'],
    [['x'], 'a list'],
    [new Error('x'), 'an object'],
  ])('is text: %s is a QueueError', (value, kind) => {
    expect(refusal(() => trimErrorText(value as string))).toEqual({
      code: 'invalid_text',
      message: `The error of a job has to be text; got ${kind}`,
    });
  });
});
