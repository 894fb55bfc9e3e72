import { isQueueError } from '@q/core';
import { startRelay } from '@q/servers';
import type mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assertTableName, MysqlDriver, schema } from '../src/index.js';
import { aJob, aPool, count, messageOf, open, rowsOf, start, useDatabase } from './fixtures.js';

const database = useDatabase();

async function columnsOf(pool: mysql.Pool, table: string): Promise<string[]> {
  const rows = await rowsOf(
    pool,
    `SELECT column_name, column_type, is_nullable, column_default, extra, collation_name FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name = '${table}' ORDER BY ordinal_position`,
  );
  return rows.map(([name, type, nullable, value, extra, collation]) => {
    const plain = type?.replace(/int\(\d+\)/, 'int'); // a width that some servers show
    const parts = [name, plain, nullable === 'NO' ? 'not null' : '', extra, collation];
    const unquoted = value?.replace(/^'(.*)'$/, '$1'); // as some servers show it
    return [...parts, value === null || value === 'NULL' ? '' : `default ${unquoted}`].filter(Boolean).join(' ');
  });
}

describe('the installed schema', () => {
  it('has the columns that the specification names, compared byte for byte', async () => {
    const { pool } = await open(database.url());
    expect(await columnsOf(pool, 'queue_jobs')).toStrictEqual([
      'id bigint unsigned not null auto_increment',
      'queue varchar(64) not null utf8mb4_bin default default',
      'name varchar(190) not null utf8mb4_bin',
      'payload text not null utf8mb4_bin',
      'attempts int not null default 0',
      'max_attempts int not null default 3',
      'priority int not null default 0',
      'unique_key varchar(190) utf8mb4_bin',
      'available_at datetime not null',
      'reserved_until datetime',
      'reserved_by varchar(64) utf8mb4_bin',
      'last_error text not null utf8mb4_bin',
      'created_at datetime not null',
    ]);
    expect(await columnsOf(pool, 'queue_failed_jobs')).toStrictEqual([
      'id bigint unsigned not null auto_increment',
      'queue varchar(64) not null utf8mb4_bin default ',
      'name varchar(190) not null utf8mb4_bin',
      'payload text not null utf8mb4_bin',
      'attempts int not null default 0',
      'error text not null utf8mb4_bin',
      'failed_at datetime not null',
    ]);
  });

  it('has the indexes that the specification names, and InnoDB', async () => {
    const { pool } = await open(database.url());
    const indexes = await rowsOf(
      pool,
      `SELECT index_name, non_unique, group_concat(column_name ORDER BY seq_in_index) FROM information_schema.statistics
       WHERE table_schema = DATABASE() AND table_name LIKE 'queue%' GROUP BY table_name, index_name, non_unique ORDER BY 1, 3`,
    );
    expect(indexes).toStrictEqual([
      ['idx_queue_failed_jobs_failed_at', '1', 'failed_at'],
      ['idx_queue_jobs_reserve', '1', 'queue,priority,available_at,id'],
      ['idx_queue_jobs_unique_key', '0', 'unique_key'],
      ['PRIMARY', '0', 'id'],
      ['PRIMARY', '0', 'id'],
    ]);
    expect(await rowsOf(pool, "SHOW TABLE STATUS WHERE name LIKE 'queue%' AND engine <> 'InnoDB'")).toStrictEqual([]);
  });

  it('can be installed twice, and nothing is lost', async () => {
    const { pool, driver } = await open(database.url());
    await driver.push(aJob());
    await driver.createTables();
    const script = aPool(database.url(), { multipleStatements: true });
    await script.query(driver.schema());
    expect(await count(pool)).toBe(1);
  });

  it('says what an older server costs, why there are two tables, and how to delete old failures', () => {
    const text = schema({ table: 'a.jobs', failedTable: 'b.failed' });
    expect(text).toContain('before MySQL 8.0 and MariaDB 10.6 there is no SKIP LOCKED');
    expect(text).toContain('Two tables, not one with a status column');
    expect(text).toContain('KEY `idx_jobs_reserve` (queue, priority DESC, available_at, id)');
    expect(text.trimEnd().split('\n').slice(-2)).toStrictEqual([
      "-- Nothing prunes the table of failed jobs: how long they are kept is the application's decision.",
      '-- To delete the old ones: q forget --before=YYYY-MM-DD',
    ]);
  });
});

describe('eight processes that start together on an empty database', () => {
  it.each([1, 2, 3])(
    'all create the tables and push (round %i)',
    async () => {
      const { pool } = await open(database.url(), { tables: false });
      await pool.query('DROP TABLE IF EXISTS queue_jobs, queue_failed_jobs');
      const children = Array.from({ length: 8 }, () => start('boot', database.url()));
      await Promise.all(children.map((child) => messageOf(child)));
      const booted = children.map((child) => messageOf(child));
      for (const child of children) child.send('go');
      expect(await Promise.all(booted)).toStrictEqual(Array(8).fill('booted'));
      expect(await count(pool)).toBe(8);
    },
    60_000,
  );

  it('are not stopped by one that was killed between the two tables', async () => {
    const { pool, driver } = await open(database.url(), { tables: false });
    await pool.query('DROP TABLE IF EXISTS queue_jobs, queue_failed_jobs');
    const half = await pool.getConnection();
    await half.query("SELECT GET_LOCK('q.create_tables', 1)");
    await half.query(driver.schema().slice(0, driver.schema().indexOf('CREATE TABLE IF NOT EXISTS `queue_failed')));
    half.destroy();
    await driver.createTables();
    expect(await driver.push(aJob())).toBe(1);
  });

  it('wait for no longer than callTimeout for one that hangs', async () => {
    const { pool, driver } = await open(database.url(), { callTimeout: 1 });
    const hung = await pool.getConnection();
    await hung.query("SELECT GET_LOCK('q.create_tables', 1)");
    const error: unknown = await driver.createTables().catch((reason: unknown) => reason);
    expect(isQueueError(error, 'store_busy') || isQueueError(error, 'call_timeout')).toBe(true);
    hung.destroy();
  });
});

describe('a table name', () => {
  const FINE = ['user', 'case', 'My', '_x9', 'order', 'x'.repeat(48)];
  const REFUSED = [
    'my-schema',
    'My.Schema.x',
    '1x',
    'schéma',
    'a b',
    'a"b"',
    "o'brien",
    'a$$b',
    'a\\b',
    'a`b',
    'a;drop table canary',
    '',
    'x'.repeat(64),
    'x'.repeat(49),
    'a\0b',
    'a\nb',
    '.a',
    'a.',
    'a..b',
    '`a`',
    ' a',
    'a ',
  ];

  it.each([...FINE, 'schema.order'])('%s works for the whole life of a job', async (name) => {
    const pool = aPool(database.url());
    const table = name.replace('schema.', `${new URL(database.url()).pathname.slice(1)}.`);
    const failedTable = `${table.slice(0, 40)}_failed`;
    const driver = new MysqlDriver(pool, { table, failedTable, onWarning: () => {} });
    expect([driver.table, driver.failedTable]).toStrictEqual([table, failedTable]);
    await driver.createTables();
    await driver.createTables();
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await driver.within(connection).pushMany([aJob({ unique: 'k' }), aJob()]);
    await connection.commit();
    connection.release();
    await driver.push(aJob({ unique: 'k' }));
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job !== null && (await driver.fail(job, 'no'))).toBe(true);
    expect(await driver.retryFailed('all', 3)).toBe(1);
    expect(await driver.stats()).toStrictEqual([{ queue: 'default', pending: 2, delayed: 0, reserved: 0, total: 2 }]);
    await using scratch = await driver.scratch();
    expect(await scratch.driver.pending()).toBe(0);
    await using _ = await driver.onPush(['default'], () => {});
    await pool.query(`DROP TABLE \`${table.replace('.', '`.`')}\``);
    await driver.close();
  });

  it.each(REFUSED)('%j is refused when the driver is built, and a table beside it lives', async (table) => {
    const pool = aPool(database.url());
    await pool.query('CREATE TABLE IF NOT EXISTS canary (id int)');
    for (const names of [{ table }, { failedTable: table }]) {
      let error: unknown;
      try {
        new MysqlDriver(pool, names);
      } catch (thrown) {
        error = thrown;
      }
      expect(isQueueError(error, 'invalid_table_name'), String(error)).toBe(true);
    }
    expect(() => schema({ table, failedTable: 'f' })).toThrow();
    expect(() => assertTableName(table)).toThrow();
    expect(await count(pool, 'canary')).toBe(0);
  });
});

describe('a scratch store', () => {
  it('leaves nothing behind', async () => {
    const { pool, driver } = await open(database.url());
    const tables = async () => (await rowsOf(pool, "SHOW TABLES LIKE '%scratch%'")).length;
    const scratch = await driver.scratch();
    expect(await tables()).toBe(2);
    await scratch[Symbol.asyncDispose]();
    expect(await tables()).toBe(0);
  });
});

describe('a process', () => {
  it('that has closed its driver and ended its pool ends by itself', async () => {
    const child = start('live', database.url());
    await messageOf(child);
    const closed = performance.now();
    await new Promise((resolve) => child.once('exit', resolve));
    expect([performance.now() - closed < 10_000, child.exitCode]).toStrictEqual([true, 0]);
  });

  it('is not kept alive by a connection that was given up because nobody answered', async () => {
    const { driver } = await open(database.url());
    await driver.createTables();
    const relay = await startRelay(database.url());
    onTestFinished(() => relay.close());
    const child = start('halfOpen', relay.url);
    expect(await messageOf(child)).toBe('frozen?');
    relay.freeze();
    child.send('go');
    expect(await messageOf(child)).toBe('call_timeout');
    const given = performance.now();
    await new Promise((resolve) => child.once('exit', resolve));
    expect([performance.now() - given < 10_000, child.exitCode]).toStrictEqual([true, 0]);
  });
});
