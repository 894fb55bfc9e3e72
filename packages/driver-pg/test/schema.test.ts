import { isQueueError } from '@q/core';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { assertTableName, PgDriver, schema } from '../src/index.js';
import { aJob, aPool, count, messageOf, open, start, useDatabase } from './fixtures.js';

const database = useDatabase();

async function columnsOf(pool: pg.Pool, table: string): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') AS text
     FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum`,
    [table],
  );
  return rows.map(({ text }) => text);
}

async function indexesOf(pool: pg.Pool, schemaName: string): Promise<string[]> {
  const { rows } = await pool.query('SELECT indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname', [
    schemaName,
  ]);
  return rows.map(({ indexdef }) => indexdef.replace(' USING btree', ''));
}

describe('the installed schema', () => {
  it('has the columns that the specification names', async () => {
    const { pool } = await open(database.url());
    expect(await columnsOf(pool, 'queue_jobs')).toStrictEqual([
      "id bigint not null default nextval('queue_jobs_id_seq'::regclass)",
      "queue character varying(64) not null default 'default'::character varying",
      'name character varying(190) not null',
      'payload text not null',
      'attempts integer not null default 0',
      'max_attempts integer not null default 3',
      'priority integer not null default 0',
      'unique_key character varying(190)',
      'available_at timestamp with time zone not null',
      'reserved_until timestamp with time zone',
      'reserved_by character varying(64)',
      "last_error text not null default ''::text",
      'created_at timestamp with time zone not null',
    ]);
    expect(await columnsOf(pool, 'queue_failed_jobs')).toStrictEqual([
      "id bigint not null default nextval('queue_failed_jobs_id_seq'::regclass)",
      "queue character varying(64) not null default ''::character varying",
      'name character varying(190) not null',
      'payload text not null',
      'attempts integer not null default 0',
      "error text not null default ''::text",
      'failed_at timestamp with time zone not null',
    ]);
  });

  it('has the indexes that the specification names, in the schema of its tables', async () => {
    const { pool } = await open(database.url(), { tables: false });
    await pool.query('CREATE SCHEMA app');
    await new PgDriver(pool, { table: 'app.queue_jobs', failedTable: 'app.queue_failed_jobs' }).createTables();
    expect(await indexesOf(pool, 'app')).toStrictEqual([
      'CREATE INDEX idx_queue_failed_jobs_failed_at ON app.queue_failed_jobs (failed_at DESC)',
      'CREATE INDEX idx_queue_jobs_reserve ON app.queue_jobs (queue, priority DESC, available_at, id)',
      'CREATE UNIQUE INDEX idx_queue_jobs_unique_key ON app.queue_jobs (unique_key)',
      'CREATE UNIQUE INDEX queue_failed_jobs_pkey ON app.queue_failed_jobs (id)',
      'CREATE UNIQUE INDEX queue_jobs_pkey ON app.queue_jobs (id)',
    ]);
  });

  it('can be installed twice, and nothing is lost', async () => {
    const { pool, driver } = await open(database.url());
    await driver.push(aJob());
    await driver.createTables();
    await pool.query(driver.schema());
    expect(await count(pool)).toBe(1);
  });

  it('makes every claim an update that touches no index (HOT)', async () => {
    const { pool, driver } = await open(database.url(), {
      tables: false,
      table: 'hot_jobs',
      failedTable: 'hot_failed',
    });
    await driver.createTables();
    await driver.pushMany(Array.from({ length: 2_000 }, (_, n) => aJob({ payload: { n, text: 'x'.repeat(100) } })));
    for (let claimed = 0; claimed < 2_000; claimed += (await driver.reserveMany(['default'], 100, 60, 'w')).length);
    await pool.query('SELECT pg_stat_force_next_flush()').catch(() => {});
    let updates: { n_tup_upd?: string; n_tup_hot_upd?: string } = {};
    for (let tries = 0; tries < 100 && updates.n_tup_upd !== '2000'; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const text = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'hot_jobs'";
      updates = (await pool.query(text)).rows[0];
    }
    expect(updates).toStrictEqual({ n_tup_upd: '2000', n_tup_hot_upd: '2000' });
  });

  it('gives two indexes two names, however long the names of the tables are', async () => {
    const { pool, driver } = await open(database.url(), {
      tables: false,
      table: 'x'.repeat(48),
      failedTable: `${'x'.repeat(47)}y`,
    });
    await driver.createTables();
    const { rows } = await pool.query("SELECT count(*)::int AS n FROM pg_indexes WHERE indexname LIKE 'idx_xxx%'");
    expect(rows[0].n).toBe(3);
  });
});

describe('eight that start together on an empty database', () => {
  it('as processes all create the tables and push', async () => {
    const { pool } = await open(database.url(), { tables: false });
    await pool.query('DROP TABLE IF EXISTS queue_jobs, queue_failed_jobs');
    const children = Array.from({ length: 8 }, () => start('boot', database.url()));
    await Promise.all(children.map((child) => messageOf(child)));
    const booted = children.map((child) => messageOf(child));
    for (const child of children) child.send('go');
    expect(await Promise.all(booted)).toStrictEqual(Array(8).fill('booted'));
    expect(await count(pool)).toBe(8);
  }, 60_000);

  it('as drivers of one process do so twenty times over', async () => {
    const { pool, driver } = await open(database.url(), { tables: false, pool: { max: 8 } });
    for (let round = 0; round < 20; round += 1) {
      await pool.query('DROP TABLE IF EXISTS queue_jobs, queue_failed_jobs');
      await Promise.all(Array.from({ length: 8 }, () => driver.createTables().then(() => driver.push(aJob()))));
      expect(await count(pool)).toBe(8);
    }
  });

  it('are not stopped by one that was killed in the middle: nothing of its tables is there', async () => {
    const { pool, driver } = await open(database.url(), { tables: false });
    await pool.query('DROP TABLE IF EXISTS queue_jobs, queue_failed_jobs');
    const half = await pool.connect();
    half.on('error', () => {});
    await half.query(`BEGIN; ${driver.schema().slice(0, driver.schema().indexOf('CREATE UNIQUE INDEX'))}`);
    const { rows } = await half.query('SELECT pg_backend_pid() AS pid');
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    half.release(true);
    await driver.createTables();
    expect(await driver.push(aJob())).toBe(1);
  });
});

describe('a table name', () => {
  const FINE = ['user', 'case', 'My', '_x9', 'x.job', 'user.order'];
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
    '"a"',
    ' a',
    'a ',
  ];

  it.each(FINE)('%s works for the whole life of a job', async (table) => {
    const pool = aPool({ connectionString: database.url() });
    await pool.query('CREATE SCHEMA IF NOT EXISTS x; CREATE SCHEMA IF NOT EXISTS "user"');
    const driver = new PgDriver(pool, { table, failedTable: `${table}_failed`, onWarning: () => {} });
    await driver.createTables();
    await driver.createTables();
    const client = await pool.connect();
    await client.query('BEGIN');
    await driver.within(client).pushMany([aJob({ unique: 'k' }), aJob()]);
    await client.query('COMMIT');
    client.release();
    await driver.push(aJob({ unique: 'k' }));
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job !== null && (await driver.fail(job, 'no'))).toBe(true);
    expect(await driver.retryFailed('all', 3)).toBe(1);
    expect(await driver.stats()).toStrictEqual([{ queue: 'default', pending: 2, delayed: 0, reserved: 0, total: 2 }]);
    await using scratch = await driver.scratch();
    expect(await scratch.driver.pending()).toBe(0);
    await using _ = await driver.onPush(['default'], () => {});
    await driver.close();
  });

  it.each(REFUSED)('%j is refused when the driver is built, and a table beside it lives', async (table) => {
    const pool = aPool({ connectionString: database.url() });
    await pool.query('CREATE TABLE IF NOT EXISTS canary (id int)');
    for (const names of [{ table }, { failedTable: table }]) {
      let error: unknown;
      try {
        new PgDriver(pool, names);
      } catch (thrown) {
        error = thrown;
      }
      expect(isQueueError(error, 'invalid_table_name'), String(error)).toBe(true);
    }
    expect(() => schema({ table, failedTable: 'f' })).toThrow();
    expect(() => assertTableName(table)).toThrow();
    expect(await count(pool, 'canary')).toBe(0);
  });

  it('is not to be given twice', () => {
    const pool = aPool({ connectionString: database.url() });
    expect(() => new PgDriver(pool, { table: 'a', failedTable: 'a' })).toThrow('need a table each');
  });
});

describe('a scratch store', () => {
  it('leaves nothing behind', async () => {
    const { pool, driver } = await open(database.url());
    const tables = async () =>
      (await pool.query("SELECT count(*)::int AS n FROM pg_class WHERE relname LIKE '%scratch%'")).rows[0].n;
    const scratch = await driver.scratch();
    expect(await tables()).toBeGreaterThan(2);
    await scratch[Symbol.asyncDispose]();
    expect(await tables()).toBe(0);
  });
});

describe('a process that has closed its driver and ended its pool', () => {
  it('ends within a second, by itself', async () => {
    const child = start('live', database.url());
    await messageOf(child);
    const closed = performance.now();
    await new Promise((resolve) => child.once('exit', resolve));
    expect([performance.now() - closed < 1_000, child.exitCode]).toStrictEqual([true, 0]);
  });
});
