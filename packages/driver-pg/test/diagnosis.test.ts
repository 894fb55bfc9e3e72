import type { Finding } from '@q/core';
import { createPostgresDatabase, startRelay } from '@q/servers';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aPool, open, useDatabase } from './fixtures.js';

const database = useDatabase();

/** A database of the test's own, with the tables, to be spoiled. */
async function aDatabase(): Promise<string> {
  const space = await createPostgresDatabase(inject('postgres'));
  onTestFinished(() => space.drop());
  await open(space.url);
  return space.url;
}

async function diagnosed(url: string, options: Parameters<typeof open>[1] = {}): Promise<Finding[]> {
  const { driver } = await open(url, { tables: false, now: () => new Date(), ...options });
  return driver.diagnose();
}

const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level !== 'ok').map(({ level, code, message }) => [level, code, message].join(': '));

describe('the diagnosis of Postgres', () => {
  it('of a server that is well finds nothing wrong, and tells what it looked at', async () => {
    const { driver } = await open(database.url(), { now: () => new Date() });
    const findings = await driver.diagnose();
    expect(findings.map(({ level, code }) => `${level} ${code}`)).toStrictEqual([
      ...['ok server_version', 'ok read_only', 'ok isolation', 'ok clock'],
      ...['ok tables', 'ok grants', 'ok tables', 'ok grants', 'ok listen'],
    ]);
    expect(findings[0]?.message).toMatch(/^Postgres \d+/);
  });

  it('finds the tables of other names and in another schema', async () => {
    const { pool } = await open(database.url(), { tables: false });
    await pool.query('CREATE SCHEMA IF NOT EXISTS "Other"');
    const names = { table: 'Other.Jobs', failedTable: 'Other.Failed' };
    const { driver } = await open(database.url(), { tables: false, ...names, now: () => new Date() });
    await driver.createTables();
    expect(wrong(await driver.diagnose())).toStrictEqual([]);
  });

  it.each([
    [
      'a column is missing',
      'ALTER TABLE queue_jobs DROP COLUMN last_error',
      ['error: tables: queue_jobs has no column last_error'],
    ],
    [
      'a payload is jsonb',
      'ALTER TABLE queue_jobs ALTER payload TYPE jsonb USING payload::jsonb',
      ['error: tables: queue_jobs.payload is jsonb; the template has text'],
    ],
    [
      'a time is without its zone',
      'ALTER TABLE queue_failed_jobs ALTER failed_at TYPE timestamp',
      [
        'error: tables: queue_failed_jobs.failed_at is timestamp without time zone; the template has timestamp with time zone',
      ],
    ],
    [
      'a name is too short',
      'ALTER TABLE queue_jobs ALTER name TYPE varchar(100)',
      ['error: tables: queue_jobs.name is character varying(100); the template has character varying(190)'],
    ],
    [
      'what has to be null may not be',
      'ALTER TABLE queue_jobs ALTER reserved_until SET NOT NULL',
      ['error: tables: queue_jobs.reserved_until may not be null, and has to'],
    ],
    [
      'a column of the application has to be filled',
      'ALTER TABLE queue_jobs ADD tenant text NOT NULL',
      [
        'error: tables: queue_jobs has a column tenant that may not be null and has no default, so every push is refused',
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
      `DROP INDEX idx_queue_jobs_unique_key; CREATE UNIQUE INDEX ON queue_jobs (unique_key) WHERE unique_key <> ''`,
      ['error: tables: queue_jobs has no unique index on unique_key: every push is refused'],
    ],
    [
      'a table is missing',
      'DROP TABLE queue_failed_jobs',
      ['error: tables: There is no table queue_failed_jobs that this user can see'],
    ],
    [
      'a collation folds case',
      `CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       ALTER TABLE queue_jobs ALTER queue TYPE varchar(64) COLLATE folded`,
      ['error: collation: The collation of queue_jobs.queue takes different texts for the same'],
    ],
  ])('says that %s', async (_, spoil, expected) => {
    const url = await aDatabase();
    await aPool({ connectionString: url }).query(spoil);
    expect(wrong(await diagnosed(url))).toStrictEqual(expected);
  });

  it('has nothing against what an application may add or widen', async () => {
    const url = await aDatabase();
    await aPool({ connectionString: url }).query(`
      ALTER TABLE queue_jobs ADD tenant text, ADD shard int NOT NULL DEFAULT 0, ALTER name TYPE text, ALTER queue TYPE varchar(200);
      DROP INDEX idx_queue_jobs_reserve;
      CREATE INDEX another ON queue_jobs (queue, priority DESC, available_at, id, shard)`);
    expect(wrong(await diagnosed(url))).toStrictEqual([]);
  });

  it('says what the user may not do', async () => {
    const url = await aDatabase();
    const name = `clerk_${new URL(url).pathname.slice(1)}`;
    const pool = aPool({ connectionString: url });
    await pool.query(`CREATE ROLE ${name} LOGIN; GRANT SELECT, INSERT ON queue_jobs, queue_failed_jobs TO ${name};
      GRANT UPDATE, DELETE ON queue_failed_jobs TO ${name}; GRANT USAGE ON queue_failed_jobs_id_seq TO ${name}`);
    const clerk = new URL(url);
    clerk.username = name;
    const found = wrong(await diagnosed(clerk.href));
    await pool.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    expect(found).toStrictEqual([
      'error: grants: This user lacks UPDATE, DELETE, USAGE of the sequence queue_jobs_id_seq on queue_jobs',
    ]);
  });

  it.each([
    [
      'default_transaction_isolation',
      'serializable',
      'warning: isolation: Transactions begin at serializable, so a push within one can be refused with 40001',
    ],
    ['default_transaction_read_only', 'on', 'error: read_only: The server takes no writes: transactions are read only'],
  ])('says that %s is %s', async (setting, value, expected) => {
    const url = await aDatabase();
    expect(wrong(await diagnosed(url, { pool: { options: `-c ${setting}=${value}` } }))).toStrictEqual([expected]);
  });

  it.each([
    [-90, 'behind', 90],
    [3_600, 'ahead of', 3_600],
  ])('says that the clocks differ by %i s', async (seconds, which, shown) => {
    const now = () => new Date(Date.now() - seconds * 1000);
    const { driver } = await open(database.url(), { now });
    expect(wrong(await driver.diagnose())).toStrictEqual([
      `warning: clock: The server's clock is ${shown} s ${which} that of this process`,
    ]);
  });

  it('says that nobody listens, where that was asked for or cannot be', async () => {
    await open(database.url());
    const told = async (listen: false | string) => (await diagnosed(database.url(), { listen })).at(-1);
    expect(await told(false)).toStrictEqual({
      level: 'ok',
      code: 'listen',
      message: 'Workers poll (`listen` is false)',
      disables: 'wakeups',
    });
    expect((await diagnosed(database.url(), { notify: false })).at(-1)).toMatchObject({
      level: 'ok',
      message: 'Workers poll (`notify` is false)',
      disables: 'wakeups',
    });
    const relay = await startRelay(database.url());
    const url = relay.url;
    await relay.close();
    expect(await told(url)).toMatchObject({
      level: 'warning',
      message: 'The connection that would listen for pushes cannot be opened, so workers find jobs by polling',
    });
  });

  it('leaves no connection, and no setting on one', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 1 }, now: () => new Date() });
    const clients = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()';
    const before = (await pool.query(clients)).rows[0].n;
    await driver.diagnose();
    expect(pool.totalCount).toBe(1);
    await expect.poll(async () => (await pool.query(clients)).rows[0].n, { timeout: 10_000 }).toBe(before);
  });
});
