import mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IdTable, type Parameters, render } from '../src/literals.js';
import { rowsOf, useDatabase } from './fixtures.js';

const database = useDatabase();

const TEXTS = [
  '',
  'plain text_1.2:3/4-5',
  "o'brien",
  'a"b`c\\d',
  "\\' OR 1=1 -- ",
  '?',
  ':name',
  'é😀\u200b\u0001\u001a\0',
  '%_',
  '日本語',
  '\ufeffx',
  "'",
  '\\',
];

const SETTINGS = [
  'SET NAMES utf8mb4',
  'SET NAMES latin1',
  'SET NAMES gbk',
  'SET NAMES sjis',
  "SET sql_mode = ''",
  "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
  "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
  // What MariaDB alone has is in comments that it alone reads.
  "SET sql_mode = 'ANSI' /*M!, sql_mode = 'ORACLE' */",
  "SET sql_mode = 'ANSI' /*M!, sql_mode = 'EMPTY_STRING_IS_NULL' */",
];

describe('a value in a statement', () => {
  it.each<[string, Parameters[string]]>([
    ['NULL', null],
    ['0', 0],
    ['-7', -7],
    ['9007199254740991', 9007199254740991],
    ['18446744073709551615', 18446744073709551615n],
    ["'default'", 'default'],
    ["'2031-05-17 10:20:30'", '2031-05-17 10:20:30'],
    ["_utf8mb4 X''", ''],
    ["_utf8mb4 X'27'", "'"],
    ["_utf8mb4 X'c3a9'", 'é'],
    ['1, 2', [1, 2n]],
    [
      "('a', 1, NULL), (_utf8mb4 X'c3b6', 2, 'b')",
      [
        ['a', 1, null],
        ['ö', 2, 'b'],
      ],
    ],
    ['SELECT 1 AS id UNION ALL SELECT 2 AS id', new IdTable([1, 2n])],
  ])('is written as %s', (expected, value) => {
    expect(render('VALUES :value', { value })).toBe(`VALUES ${expected}`);
  });

  it('is put in where its name stands, and not looked at again', () => {
    expect(render(':a :b :a', { a: ':b', b: 1 })).toBe("':b' 1 ':b'");
  });

  it.each([[undefined], [1.5], [Number.NaN], [2 ** 53], [true], [{ id: 1 }], [new Date(0)], [Symbol('x')]])(
    'that is neither text nor a whole number is refused: %s',
    (value) => {
      // The cast: what a caller without a type checker might get through every other check.
      expect(() => render('SELECT :value', { value: value as never })).toThrow(TypeError);
    },
  );

  it.each(SETTINGS)('is what it was, in a session with %s', async (setting) => {
    const connection = await mysql.createConnection(database.url());
    onTestFinished(() => connection.end());
    await connection.query(setting);
    for (const text of TEXTS) {
      const sql = render('SELECT hex(:text), octet_length(:text)', { text });
      expect(sql).toMatch(/^[\x20-\x7e]*$/);
      const [row] = await rowsOf(connection, sql);
      const bytes = Buffer.from(text);
      expect(row, text).toStrictEqual([bytes.toString('hex').toUpperCase(), String(bytes.length)]);
    }
  });
});
