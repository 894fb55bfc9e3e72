import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  ClaimLost,
  isQueueError,
  JobAborted,
  QUEUE_ERROR_CODES,
  QueueError,
  type QueueErrorCode,
} from '../src/index.js';

const source = fileURLToPath(new URL('../src', import.meta.url));
const dist = new URL('../dist/errors.js', import.meta.url).href;

/** Another copy of core, as a second version in node_modules would be one. */
const copy = async (name: string): Promise<typeof import('../src/errors.js')> =>
  import(/* @vite-ignore */ `${dist}?${name}`);

describe('a QueueError', () => {
  it('has a name, a code, a message and a cause', () => {
    const cause = new Error('lost');
    const error = new QueueError('store_unavailable', 'The store is gone', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'QueueError', code: 'store_unavailable', message: 'The store is gone', cause });
    expect(String(error)).toBe('QueueError: The store is gone');
    expect(error.stack).toContain('errors.test.ts');
  });

  it('has no cause where none is given', () => {
    expect(Object.hasOwn(new QueueError('invalid_option', 'x'), 'cause')).toBe(false);
  });

  it('does not show the mark by which it is recognised', () => {
    expect(Object.keys(new QueueError('invalid_option', 'x')).sort()).toEqual(['code', 'name']);
  });
});

describe('ClaimLost', () => {
  it('is a QueueError of its own name', () => {
    const error = new ClaimLost('gone');
    expect(error).toBeInstanceOf(QueueError);
    expect(error).toMatchObject({ name: 'ClaimLost', code: 'claim_lost', message: 'gone' });
    expect(isQueueError(error, 'claim_lost')).toBe(true);
  });
});

describe('JobAborted', () => {
  it.each(['timeout', 'shutdown', 'claim_lost'] as const)('tells why by its code: %s', (code) => {
    const error = new JobAborted(code, 'Give up');
    expect(error).toMatchObject({ name: 'JobAborted', code, message: 'Give up' });
    expect(isQueueError(error)).toBe(false);
  });
});

describe('a QueueError is recognised', () => {
  it('by its mark, and by its code where that is asked for', () => {
    const error = new QueueError('invalid_text', 'x');
    expect(isQueueError(error)).toBe(true);
    expect(isQueueError(error, 'invalid_text')).toBe(true);
    expect(isQueueError(error, 'invalid_number')).toBe(false);
  });

  it('across two copies of core', async () => {
    const [first, second] = [await copy('first'), await copy('second')];
    expect(first.QueueError).not.toBe(second.QueueError);
    const error = new first.QueueError('invalid_text', 'x');
    expect(error instanceof second.QueueError).toBe(false);
    expect(second.isQueueError(error, 'invalid_text')).toBe(true);
    expect(isQueueError(error)).toBe(true);
    expect(first.isQueueError(new ClaimLost('gone'), 'claim_lost')).toBe(true);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['text', 'QueueError'],
    ['an Error', new Error('x')],
    [
      'one that has only its name and code',
      Object.assign(new Error('x'), { name: 'QueueError', code: 'invalid_text' }),
    ],
    ['an empty object', {}],
    ['a function', () => {}],
    ['a revoked Proxy', revoked()],
  ])('and nothing else is: %s', (_, thrown) => {
    expect(isQueueError(thrown)).toBe(false);
  });
});

describe('the table of codes', () => {
  const codes = Object.keys(QUEUE_ERROR_CODES) as QueueErrorCode[];

  it('is sorted, and each code is told in a sentence', () => {
    expect(codes).toEqual([...codes].sort());
    for (const code of codes) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(QUEUE_ERROR_CODES[code]).toMatch(/^[A-Z].*\.$/);
    }
    expect(new Set(Object.values(QUEUE_ERROR_CODES)).size).toBe(codes.length);
  });

  it('has every code that core throws', () => {
    const text = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${source}/${file}`, 'utf8'))
      .join('\n');
    const thrown = [...text.matchAll(/new QueueError\(\s*'(\w+)'/g)].map(([, code]) => code);
    expect(thrown.length).toBeGreaterThan(20);
    for (const code of thrown) expect(codes).toContain(code);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
