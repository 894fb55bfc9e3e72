import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertTableName, bareTableName } from '../src/driver-kit/index.js';
import { refusal } from './fixtures.js';

const part = (length: number) => 'x'.repeat(length);

describe('a table name', () => {
  it.each([
    'queue_jobs',
    'queue_failed_jobs',
    'user',
    'case',
    'select',
    'My_Table',
    '_',
    '_1',
    'a$b'.replace('$', '_'),
    'x.job',
    'My_Schema.Jobs',
    '__proto__',
    'constructor',
    part(48),
    `${part(48)}.${part(48)}`,
  ])('may be %s', (name) => {
    expect(assertTableName(name)).toBe(name);
  });

  it.each<[string, string]>([
    ['my-schema', 'my-schema'],
    ['My.Schema.jobs', 'My.Schema.jobs'],
    ['1x', '1x'],
    ['schéma', 'schéma'],
    ['a b', 'a b'],
    ['a"b', 'a\\"b'],
    ["o'brien", "o'brien"],
    ['a$$b', 'a$$b'],
    ['a$b', 'a$b'],
    ['a\\b', 'a\\\\b'],
    ['a`b', 'a`b'],
    ['a;drop table t', 'a;drop table t'],
    ['', ''],
    [' ', ' '],
    [' jobs', ' jobs'],
    ['jobs ', 'jobs '],
    ['a\u0000b', 'a\\u0000b'],
    ['a\nb', 'a\\nb'],
    ['jobs\n', 'jobs\\n'],
    ['.jobs', '.jobs'],
    ['public.', 'public.'],
    ['public..jobs', 'public..jobs'],
    ['.', '.'],
    ['public.1x', 'public.1x'],
    ['jobs--', 'jobs--'],
    ['jobs/*', 'jobs/*'],
    ['jobs)', 'jobs)'],
    ['[jobs]', '[jobs]'],
    ['"jobs"', '\\"jobs\\"'],
    ['ｊobs', 'ｊobs'],
    ['joＢs', 'joＢs'],
    ['\u212aelvin', '\u212aelvin'],
    ['jobs\u200b', 'jobs\u200b'],
  ])('may not be %j', (name, written) => {
    expect(refusal(() => assertTableName(name))).toEqual({
      code: 'invalid_table_name',
      message: `"${written}" is not a plain table name`,
    });
  });

  it.each<[string, string]>([
    [part(49), part(49)],
    [part(64), part(64)],
    [`public.${part(49)}`, part(49)],
    [`${part(49)}.jobs`, part(49)],
  ])('has at most 48 characters a part: %s', (name, long) => {
    expect(refusal(() => assertTableName(name))).toEqual({
      code: 'invalid_table_name',
      message: `"${name}" is not a plain table name: each part has at most 48 characters, "${long}" has ${long.length}`,
    });
  });

  it('is not printed at length when it is refused', () => {
    expect(refusal(() => assertTableName(`${part(1_000_000)}!`)).message).toBe(
      `"${part(80)}…" is not a plain table name`,
    );
    expect(refusal(() => assertTableName(part(1_000_000))).message.length).toBeLessThan(400);
  });

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [7, 'a number'],
    [['queue_jobs'], 'a list'],
    [{ toString: () => 'queue_jobs' }, 'an object'],
    [Object('queue_jobs'), 'an object'],
  ])('is text and nothing that becomes it: %s', (name, kind) => {
    expect(refusal(() => assertTableName(name))).toEqual({
      code: 'invalid_table_name',
      message: `A table name has to be text; got ${kind}`,
    });
  });

  it('holds nothing that a statement could take for more than a name', () => {
    const unit = fc.oneof(
      fc.constantFrom('a', 'Z', '_', '9', '.', '"', "'", '`', ';', '-', ' ', '\n'),
      fc.string({ maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (name) => {
        const isPlain = name.split('.').every((each) => /^[A-Za-z_]\w*$/.test(each)) && name.split('.').length <= 2;
        if (isPlain) expect(assertTableName(name)).toBe(name);
        else expect(refusal(() => assertTableName(name)).code).toBe('invalid_table_name');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the bare name', () => {
  it.each([
    ['queue_jobs', 'queue_jobs'],
    ['public.queue_jobs', 'queue_jobs'],
  ])('of %s is %s', (name, bare) => {
    expect(bareTableName(name)).toBe(bare);
  });
});
