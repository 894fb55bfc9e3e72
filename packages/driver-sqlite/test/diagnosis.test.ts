import { join } from 'node:path';
import type { Finding } from '@q/core';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteDriver } from '../src/index.js';
import { aFolder, open } from './fixtures.js';

const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level !== 'ok').map(({ level, code, message }) => [level, code, message].join(': '));

describe('the diagnosis of SQLite', () => {
  it('of a database that is well finds nothing wrong, and tells what it looked at', async () => {
    const { driver } = await open();
    const findings = await driver.diagnose();
    expect(findings.map(({ level, code }) => `${level} ${code}`)).toStrictEqual([
      ...['ok server_version', 'ok journal_mode', 'ok tables', 'ok tables', 'ok read_only'],
    ]);
    expect(findings[0]?.message).toMatch(/^SQLite 3\./);
  });

  it('finds the tables in an attached database, by names that are words of SQL', async () => {
    const { db } = await open({ tables: false });
    db.exec(`ATTACH '${join(aFolder(), 'other.db')}' AS other`);
    const driver = new SqliteDriver(db, { table: 'other.order', failedTable: 'other.case', onWarning: () => {} });
    onTestFinished(() => driver.close());
    await driver.createTables();
    expect(wrong(await driver.diagnose()).filter((line) => !line.includes('journal_mode'))).toStrictEqual([]);
  });

  it.each([
    [
      'a column is missing',
      'ALTER TABLE queue_jobs DROP COLUMN last_error',
      ['error: tables: queue_jobs has no column last_error'],
    ],
    [
      'a column of the application has to be filled',
      `DROP TABLE queue_failed_jobs;
       CREATE TABLE queue_failed_jobs (id INTEGER PRIMARY KEY, queue TEXT, name VARCHAR(190), payload TEXT, attempts INT, error TEXT,
         failed_at TEXT, tenant TEXT NOT NULL);
       CREATE INDEX i ON queue_failed_jobs (failed_at)`,
      [
        'error: tables: queue_failed_jobs has a column tenant that may not be null and has no default, so every push is refused',
      ],
    ],
    [
      'an id is no number, and a time is one',
      `DROP TABLE queue_failed_jobs;
       CREATE TABLE queue_failed_jobs (id TEXT PRIMARY KEY, queue TEXT, name TEXT, payload TEXT, attempts INT, error TEXT,
         failed_at NUMERIC);
       CREATE INDEX i ON queue_failed_jobs (failed_at)`,
      [
        'error: tables: queue_failed_jobs.id is TEXT; the template has INTEGER',
        'error: tables: queue_failed_jobs.failed_at is NUMERIC; the template has TEXT',
      ],
    ],
    [
      'the index of the claim is missing',
      'DROP INDEX idx_queue_jobs_reserve',
      [
        'warning: tables: queue_jobs has no index on queue, priority, available_at, id: every claim reads the whole table',
      ],
    ],
    [
      'the unique index is partial',
      `DROP INDEX idx_queue_jobs_unique_key; CREATE UNIQUE INDEX k ON queue_jobs (unique_key) WHERE unique_key <> ''`,
      ['error: tables: queue_jobs has no unique index on unique_key: every push is refused'],
    ],
    [
      'keys are compared without case',
      `DROP INDEX idx_queue_jobs_unique_key; CREATE UNIQUE INDEX k ON queue_jobs (unique_key COLLATE NOCASE)`,
      ['error: collation: The collation of queue_jobs.unique_key takes different texts for the same'],
    ],
    [
      'a table is missing',
      'DROP TABLE queue_failed_jobs',
      ['error: tables: There is no table queue_failed_jobs that this user can see'],
    ],
  ])('says that %s', async (_, spoil, expected) => {
    const { db, driver } = await open();
    db.exec(spoil);
    expect(wrong(await driver.diagnose())).toStrictEqual(expected);
  });

  it('says that a file is not in WAL mode, and that a database is in memory', async () => {
    const { driver, file } = await open({ journal: 'delete' });
    expect(wrong(await driver.diagnose())).toStrictEqual([
      `warning: journal_mode: ${file} is in journal mode delete, in which readers and the writer wait for each other`,
    ]);
    const { driver: inMemory } = await open({ file: ':memory:', journal: null });
    expect(wrong(await inMemory.diagnose())).toStrictEqual([
      'warning: in_memory: The database is in memory, so its jobs end with this process, and no other process sees them',
    ]);
  });

  it('says that a database is read only, and that somebody holds it', async () => {
    const { file } = await open();
    const db = new Database(file, { readonly: true });
    const driver = new SqliteDriver(db, { callTimeout: 1 });
    onTestFinished(async () => {
      await driver.close();
      db.close();
    });
    expect((await driver.diagnose()).at(-1)).toMatchObject({ level: 'error', code: 'read_only' });
    const other = await open({ file, callTimeout: 1 });
    other.db.exec('BEGIN IMMEDIATE');
    expect((await other.driver.diagnose()).at(-1)).toMatchObject({ level: 'error', code: 'locked' });
    other.db.exec('ROLLBACK');
    expect((await other.driver.diagnose()).at(-1)).toMatchObject({ level: 'ok', code: 'read_only' });
  });
});
