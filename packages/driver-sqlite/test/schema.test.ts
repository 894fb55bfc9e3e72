import { isQueueError } from '@q/core';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assertTableName, SqliteDriver, schema } from '../src/index.js';
import { aFolder, aJob, count, open } from './fixtures.js';

const NAMES = { table: 'queue_jobs', failedTable: 'queue_failed_jobs' };

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly pk: number;
}

function columnsOf(db: Database.Database, table: string): string[] {
  const columns = db.prepare(`PRAGMA table_info(${table})`).all() as Column[];
  return columns.map(({ name, type, notnull, dflt_value, pk }) => {
    const parts = [name, type.toLowerCase(), pk === 1 ? 'primary key' : notnull === 1 ? 'not null' : ''];
    return [...parts, dflt_value === null ? '' : `default ${dflt_value}`].filter(Boolean).join(' ');
  });
}

function memory(): Database.Database {
  const db = new Database(':memory:');
  onTestFinished(() => {
    db.close();
  });
  return db;
}

describe('the template', () => {
  it('has the columns that every SQL driver has', () => {
    const db = memory();
    db.exec(schema(NAMES));
    expect(columnsOf(db, 'queue_jobs')).toStrictEqual([
      'id integer primary key',
      "queue text not null default 'default'",
      'name text not null',
      'payload text not null',
      'attempts integer not null default 0',
      'max_attempts integer not null default 3',
      'priority integer not null default 0',
      'unique_key text',
      'available_at text not null',
      'reserved_until text',
      'reserved_by text',
      "last_error text not null default ''",
      'created_at text not null',
    ]);
    expect(columnsOf(db, 'queue_failed_jobs')).toStrictEqual([
      'id integer primary key',
      "queue text not null default ''",
      'name text not null',
      'payload text not null',
      'attempts integer not null default 0',
      "error text not null default ''",
      'failed_at text not null',
    ]);
  });

  it('derives the names of its indexes from the tables', () => {
    const db = memory();
    db.exec(schema({ table: 'main.mail_jobs', failedTable: 'mail_failed' }));
    const rows = db.prepare("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY name").all();
    expect(rows).toStrictEqual([
      { name: 'idx_mail_failed_failed_at', tbl_name: 'mail_failed' },
      { name: 'idx_mail_jobs_reserve', tbl_name: 'mail_jobs' },
      { name: 'idx_mail_jobs_unique_key', tbl_name: 'mail_jobs' },
    ]);
  });

  it('says why there are two tables and why they have a prefix, and ends with how to delete old failures', () => {
    const text = schema(NAMES);
    expect(text).toContain('development and test schema');
    expect(text).toContain('Two tables, not one with a status column');
    expect(text).toContain('prefix because "jobs"');
    expect(text.trimEnd().split('\n').slice(-2)).toStrictEqual([
      "-- Nothing prunes the table of failed jobs: how long they are kept is the application's decision.",
      '-- To delete the old ones: q forget --before=YYYY-MM-DD',
    ]);
  });

  it('can be applied twice', () => {
    const db = memory();
    db.exec(schema(NAMES));
    expect(() => db.exec(schema(NAMES))).not.toThrow();
  });

  it('is the driver’s, with the driver’s names', async () => {
    const { driver } = await open({ table: 'a_jobs', failedTable: 'a_failed', tables: false });
    expect(driver.schema()).toBe(schema({ table: 'a_jobs', failedTable: 'a_failed' }));
    expect([driver.table, driver.failedTable]).toStrictEqual(['a_jobs', 'a_failed']);
  });
});

describe('a table name', () => {
  const NAMES_TO_TRY = [
    'my-schema', 'My.Schema', 'user', 'case', '1x', 'schéma', 'a b', 'a"b', "o'brien", 'a$$b', 'x.job', 'a\\b', 'a`b',
    'a;drop table canary', '', 'x'.repeat(64), 'x'.repeat(48), 'a\0b', 'a\nb', 'main.order', 'A.b.c', 'temp.jobs', 'sqlite_jobs',
  ]; // biome-ignore format: a list to be read as one

  it.each(NAMES_TO_TRY)('%j works, or is refused before anything runs', async (table) => {
    const { db } = await open({ tables: false });
    db.exec('CREATE TABLE canary (id INTEGER); INSERT INTO canary VALUES (1)');
    const works = await tryTable(db, table);
    expect(works).toBe(['user', 'case', 'x'.repeat(48), 'main.order', 'temp.jobs'].includes(table));
    expect(count(db, 'canary')).toBe(1);
  });

  it('is checked by what the package exports', () => {
    expect(assertTableName('main.queue_jobs')).toBe('main.queue_jobs');
    expect(() => assertTableName('a b')).toThrow('"a b" is not a plain table name');
  });

  it('is not given to both tables', async () => {
    const { db } = await open();
    expect(() => new SqliteDriver(db, { table: 'jobs', failedTable: 'JOBS' })).toThrow('a table each');
  });
});

/** Whether a driver with the table name takes a job from push to the failed table and back. False: refused, clearly. */
async function tryTable(db: Database.Database, table: string): Promise<boolean> {
  try {
    await using driver = new SqliteDriver(db, { table, failedTable: 'failed' });
    await driver.createTables();
    await driver.createTables();
    const id = await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job?.id).toBe(id);
    expect((await driver.stats()).length).toBe(1);
    return true;
  } catch (error) {
    // SQLite keeps the names that begin with "sqlite_" for itself, and says so.
    expect(isQueueError(error) ? error.code : (error as Error).message).toMatch(
      /^(invalid_table_name|store_unavailable|object name reserved for internal use: sqlite_jobs)$/,
    );
    return false;
  }
}

describe('a schema in a table name', () => {
  it('is an attached database, which the driver attaches too', async () => {
    const folder = aFolder();
    const { db } = await open({ file: `${folder}/app.db` });
    db.exec(`ATTACH '${folder}/other.db' AS side`);
    db.pragma('side.journal_mode = WAL');
    await using driver = new SqliteDriver(db, { table: 'side.jobs', failedTable: 'side.failed' });
    await driver.createTables();
    const id = await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job?.id).toBe(id);
    if (job !== null) await driver.fail(job, 'no');
    expect(count(db, 'side.failed')).toBe(1);
    db.transaction(() => driver.pushSync(aJob()))();
    expect(count(db, 'side.jobs')).toBe(1);
  });

  it('that is not attached is refused when the driver is built', async () => {
    const { db } = await open();
    expect(() => new SqliteDriver(db, { table: 'x.job' })).toThrow(
      '"x.job" names a database "x" that is not attached to this connection. ATTACH it first',
    );
  });

  it('is main where there is none, so a temporary table of the same name is never met', async () => {
    const { db, driver } = await open();
    db.exec('CREATE TEMP TABLE queue_jobs (id INTEGER)');
    driver.pushSync(aJob());
    expect(count(db, 'main.queue_jobs')).toBe(1);
    expect(count(db, 'temp.queue_jobs')).toBe(0);
  });
});
