import type { Harness, JobRow, NewRow, TestStore, TestTransaction } from '@q/conformance';
import type { FailedJob } from '@q/core';
import { createPostgresDatabase } from '@q/servers';
import type {} from '@q/servers/vitest/postgres';
import pg from 'pg';
import { afterAll } from 'vitest';
import { PgDriver, type PgDriverOptions } from '../src/index.js';

export interface StoreKind {
  /** The server: the one that all files of the run share, unless a test says otherwise. */
  readonly url: string;
  /** What the application's pools are made with, besides where they connect. */
  readonly pool?: pg.PoolConfig;
  readonly driver?: PgDriverOptions;
  /** The application's copy of pg. */
  readonly Pool?: typeof pg.Pool;
  /** The application's transactions are above READ COMMITTED: a key that another one takes meanwhile is then an error. */
  readonly isolated?: boolean;
  /** Where the application connects to a database of the server, by way of something else. */
  readonly via?: (databaseUrl: string) => Promise<string>;
}

/** What conformance needs to know of a PgDriver on such pools. All its cases share one database, emptied for each. */
export function harnessFor(kind: StoreKind): Harness {
  let opened: Promise<Place> | null = null;
  afterAll(async () => (await opened)?.close());
  return {
    abilities: [
      'reports',
      'transactions',
      'batches',
      'leases',
      'batchLeases',
      'turnover',
      'wakeups',
      'schema',
      'inspection',
      'scratch',
      'diagnosis',
    ],
    lacks: kind.isolated ? ['concurrentTransactions'] : [],
    open: async ({ now }) => {
      opened ??= openPlace(kind);
      return openStore(await opened, now);
    },
  };
}

/** A database, and the pools of two applications to it. */
interface Place {
  readonly app: pg.Pool;
  readonly other: pg.Pool;
  /** The harness's own, straight to the server, whatever the application's is like. */
  readonly raw: pg.Pool;
  readonly driver: PgDriverOptions;
  close(): Promise<void>;
}

async function openPlace({ url, pool = {}, driver = {}, via, Pool = pg.Pool }: StoreKind): Promise<Place> {
  const database = await createPostgresDatabase(url);
  const connectionString = via === undefined ? database.url : await via(database.url);
  const open = (config: pg.PoolConfig) => {
    const opened = new Pool({ max: 6, ...config });
    opened.on('error', () => {});
    return opened;
  };
  const raw = open({ connectionString: database.url });
  const listen = via === undefined ? {} : { listen: database.url };
  await new PgDriver(raw).createTables();
  await raw.query('CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)');
  const pools = [open({ ...pool, connectionString }), open({ ...pool, connectionString })] as const;
  return {
    app: pools[0],
    other: pools[1],
    raw,
    driver: { ...listen, ...driver },
    close: async () => {
      for (const one of [...pools, raw]) await one.end();
      await database.drop();
    },
  };
}

async function openStore(place: Place, now: () => Date): Promise<TestStore> {
  const { app, other, raw } = place;
  await raw.query('TRUNCATE queue_jobs, queue_failed_jobs, notes RESTART IDENTITY');
  const drivers: PgDriver[] = [];
  const connect = async (pool: pg.Pool): Promise<PgDriver> => {
    const driver = new PgDriver(pool, { now, onWarning: () => {}, ...place.driver });
    drivers.push(driver);
    return driver;
  };
  const idle = await app.connect();
  idle.release();
  return {
    driver: await connect(app),
    connect: () => connect(other),
    insertRow: (row) => insertRow(raw, row),
    jobRows: async () => (await read<StoredJob>(raw, JOBS)).map(jobRow),
    failedRows: async () => (await read<StoredFailure>(raw, FAILURES)).map(failedRow),
    begin: () => begin(app),
    notes: async () =>
      (await read<{ text: string }>(raw, 'SELECT text FROM notes ORDER BY id')).map(({ text }) => text),
    // Older versions of pg do not say whether a transaction is open.
    notTransactions: [app, raw, { query: () => {} }, ...('getTransactionStatus' in idle ? [idle] : [])],
    close: async () => {
      for (const one of drivers) await one.close();
      if (app.idleCount !== app.totalCount) throw new Error('a connection was not given back to the pool');
    },
  };
}

async function begin(pool: pg.Pool): Promise<TestTransaction> {
  const client = await pool.connect();
  await client.query('BEGIN');
  const end = async (how: 'COMMIT' | 'ROLLBACK') => {
    const { command } = await client.query(how);
    client.release();
    // Postgres answers ROLLBACK to the COMMIT of a transaction in which a statement failed.
    if (command !== how) throw new Error(`${how} was answered by ${command}`);
  };
  return {
    tx: client,
    note: async (text) => {
      await client.query('INSERT INTO notes (text) VALUES ($1)', [text]);
    },
    commit: () => end('COMMIT'),
    rollback: () => end('ROLLBACK'),
  };
}

// Cast to text and read as text: the tests with hostile type parsers have them in the whole process.
const AS_TEXT = { getTypeParser: () => (value: unknown) => String(value) };
const JOBS = `
  SELECT id::text, queue, name, payload, attempts::text, max_attempts::text, priority::text, unique_key,
    extract(epoch FROM available_at)::text AS available_at, extract(epoch FROM reserved_until)::text AS reserved_until,
    reserved_by, last_error, extract(epoch FROM created_at)::text AS created_at
  FROM queue_jobs`;
const FAILURES = `
  SELECT id::text, queue, name, payload, attempts::text, error, extract(epoch FROM failed_at)::text AS failed_at
  FROM queue_failed_jobs`;

async function read<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await pool.query<Row>({ text, values, types: AS_TEXT })).rows;
}

const COLUMNS: Readonly<Record<keyof NewRow, string>> = {
  id: 'id',
  queue: 'queue',
  name: 'name',
  payloadJson: 'payload',
  attempts: 'attempts',
  maxAttempts: 'max_attempts',
  priority: 'priority',
  unique: 'unique_key',
  availableAt: 'available_at',
  reservedUntil: 'reserved_until',
  reservedBy: 'reserved_by',
  lastError: 'last_error',
  createdAt: 'created_at',
};

async function insertRow(pool: pg.Pool, row: NewRow): Promise<number> {
  const keys = Object.keys(row) as (keyof NewRow)[];
  const columns = keys.map((key) => COLUMNS[key]).join();
  const text = `INSERT INTO queue_jobs (${columns}) VALUES (${keys.map((_, index) => `$${index + 1}`)}) RETURNING id::text`;
  const values = keys.map((key) => {
    const value = row[key];
    return value instanceof Date ? value.toISOString() : value;
  });
  const [stored] = await read<{ id: string }>(pool, text, values);
  return Number(stored?.id);
}

interface StoredJob {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: string;
  readonly max_attempts: string;
  readonly priority: string;
  readonly unique_key: string | null;
  readonly available_at: string;
  readonly reserved_until: string | null;
  readonly reserved_by: string | null;
  readonly last_error: string;
  readonly created_at: string;
}

function jobRow(row: StoredJob): JobRow {
  return {
    id: Number(row.id),
    queue: row.queue,
    name: row.name,
    payloadJson: row.payload,
    attempts: Number(row.attempts),
    maxAttempts: Number(row.max_attempts),
    priority: Number(row.priority),
    unique: row.unique_key,
    availableAt: moment(row.available_at),
    reservedUntil: row.reserved_until === null ? null : moment(row.reserved_until),
    reservedBy: row.reserved_by,
    lastError: row.last_error,
    createdAt: moment(row.created_at),
  };
}

interface StoredFailure {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: string;
  readonly error: string;
  readonly failed_at: string;
}

function failedRow(row: StoredFailure): FailedJob {
  const { id, queue, name, payload, attempts, error, failed_at } = row;
  return {
    id: Number(id),
    failedAt: moment(failed_at),
    queue,
    name,
    payloadJson: payload,
    attempts: Number(attempts),
    error,
  };
}

function moment(seconds: string): Date {
  return new Date(Number(seconds) * 1000);
}
