import type { Harness, JobRow, NewRow, TestStore, TestTransaction } from '@q/conformance';
import type { FailedJob } from '@q/core';
import { parseStamp } from '@q/core/driver-kit';
import { createMysqlDatabase } from '@q/servers';
import mysql from 'mysql2';
import { afterAll } from 'vitest';
import { MysqlDriver, type MysqlDriverOptions, type MysqlPool } from '../src/index.js';
import { rowsOf } from './fixtures.js';

export interface StoreKind {
  /** The server. */
  readonly url: () => string;
  /** What the application's pools are made with, besides where they connect. */
  readonly pool?: mysql.PoolOptions;
  /** What the driver is given of a pool. Default: the pool itself, with callbacks. */
  readonly wrap?: (pool: mysql.Pool) => MysqlPool;
  /** What the application does to each connection it opens. */
  readonly onConnection?: readonly string[];
  readonly driver?: MysqlDriverOptions;
  /** Another copy of the client. */
  readonly client?: Pick<typeof mysql, 'createPool'>;
}

/** What conformance needs to know of a MysqlDriver on such pools. All its cases share one database, emptied for each. */
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
      'wakeups',
      'schema',
      'inspection',
      'scratch',
      'diagnosis',
    ],
    open: async ({ now }) => {
      opened ??= openPlace(kind);
      return openStore(await opened, now);
    },
  };
}

/** A database, and the pools of two applications to it. */
interface Place {
  readonly kind: StoreKind;
  readonly app: mysql.Pool;
  readonly other: mysql.Pool;
  /** The harness's own, whatever the application's is like. */
  readonly raw: mysql.Pool;
  /** Whether a case has written ids of its own: the next one begins to count after them. */
  areIdsGiven: boolean;
  close(): Promise<void>;
}

async function openPlace(kind: StoreKind): Promise<Place> {
  const database = await createMysqlDatabase(kind.url());
  const { client = mysql, onConnection = [] } = kind;
  const open = () => {
    const pool = client.createPool({ uri: database.url, connectionLimit: 6, ...kind.pool });
    pool.on('connection', (connection) => {
      for (const statement of onConnection) connection.query(statement);
    });
    return pool;
  };
  const raw = mysql.createPool({ uri: database.url });
  const pools = [open(), open()] as const;
  await new MysqlDriver(raw).createTables();
  await raw.promise().query('CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, text text NOT NULL) ENGINE=InnoDB');
  return {
    kind,
    app: pools[0],
    other: pools[1],
    raw,
    areIdsGiven: false,
    close: async () => {
      for (const one of [...pools, raw]) await one.promise().end();
      await database.drop();
    },
  };
}

async function openStore(place: Place, now: () => Date): Promise<TestStore> {
  const { kind, app, other, raw } = place;
  // To truncate a table takes thirty times as long as to delete a few rows.
  for (const table of ['queue_jobs', 'queue_failed_jobs', 'notes']) await raw.promise().query(`DELETE FROM ${table}`);
  if (place.areIdsGiven) await raw.promise().query('TRUNCATE TABLE queue_jobs');
  place.areIdsGiven = false;
  const { wrap = (pool) => pool, driver } = kind;
  const drivers: MysqlDriver[] = [];
  const connect = async (pool: mysql.Pool): Promise<MysqlDriver> => {
    const one = new MysqlDriver(wrap(pool), { now, onWarning: () => {}, ...driver });
    drivers.push(one);
    return one;
  };
  const idle = await app.promise().getConnection();
  await idle.query('ROLLBACK');
  idle.release();
  const isAutocommit = kind.onConnection?.includes('SET autocommit = 0') !== true;
  return {
    driver: await connect(app),
    connect: () => connect(other),
    insertRow: (row) => {
      place.areIdsGiven ||= row.id !== undefined;
      return insertRow(raw, row);
    },
    jobRows: async () => (await rowsOf(raw.promise(), JOBS)).map(jobRow),
    failedRows: async () => (await rowsOf(raw.promise(), FAILURES)).map(failedRow),
    begin: () => begin(app),
    notes: async () =>
      (await rowsOf(raw.promise(), 'SELECT text FROM notes ORDER BY id')).map(([text]) => text ?? 'none'),
    // Without autocommit there is no connection without a transaction.
    notTransactions: [app, raw, app.promise(), ...(isAutocommit ? [idle, idle.connection] : []), { query: () => {} }],
    close: async () => {
      for (const one of drivers) await one.close();
      for (const pool of [app, other]) checkAllGivenBack(pool);
    },
  };
}

function checkAllGivenBack(pool: mysql.Pool): void {
  // The cast: what mysql2 knows of its connections, and does not tell.
  const { _allConnections: all, _freeConnections: free } = pool as unknown as Record<string, { length: number }>;
  if (all?.length !== free?.length) throw new Error(`${free?.length} of ${all?.length} connections are in the pool`);
}

async function begin(pool: mysql.Pool): Promise<TestTransaction> {
  const connection = await pool.promise().getConnection();
  await connection.beginTransaction();
  const end = async (how: 'commit' | 'rollback') => {
    await connection[how]();
    connection.release();
  };
  return {
    // One flavour here, the other one in the application's hands.
    tx: connection.connection,
    note: async (text) => {
      await connection.query(`INSERT INTO notes (text) VALUES (${mysql.escape(text)})`);
    },
    commit: () => end('commit'),
    rollback: () => end('rollback'),
  };
}

const JOBS = `
  SELECT id, queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, reserved_until, reserved_by,
    last_error, created_at
  FROM queue_jobs`;
const FAILURES = 'SELECT id, queue, name, payload, attempts, error, failed_at FROM queue_failed_jobs';

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

async function insertRow(pool: mysql.Pool, given: NewRow): Promise<number> {
  // A text column of MySQL can have no default.
  const row: NewRow = { lastError: '', ...given };
  const keys = Object.keys(row) as (keyof NewRow)[];
  const columns = keys.map((key) => COLUMNS[key]).join();
  const values = keys.map((key) => {
    const value = row[key];
    return value instanceof Date ? value.toISOString().slice(0, 19).replace('T', ' ') : value;
  });
  const sql = `INSERT INTO queue_jobs (${columns}) VALUES (${keys.map(() => '?')})`;
  const [{ insertId }] = await pool.promise().query<mysql.ResultSetHeader>(sql, values);
  return insertId;
}

type Row = readonly (string | null)[];

function jobRow(row: Row): JobRow {
  const [id, queue, name, payload, attempts, maxAttempts, priority, unique, available, reserved, by, error, created] =
    row;
  return {
    id: Number(id),
    queue: queue ?? '',
    name: name ?? '',
    payloadJson: payload ?? '',
    attempts: Number(attempts),
    maxAttempts: Number(maxAttempts),
    priority: Number(priority),
    unique: unique ?? null,
    availableAt: parseStamp(available ?? ''),
    reservedUntil: typeof reserved === 'string' ? parseStamp(reserved) : null,
    reservedBy: by ?? null,
    lastError: error ?? '',
    createdAt: parseStamp(created ?? ''),
  };
}

function failedRow(row: Row): FailedJob {
  const [id, queue, name, payload, attempts, error, failedAt] = row;
  return {
    id: Number(id),
    failedAt: parseStamp(failedAt ?? ''),
    queue: queue ?? '',
    name: name ?? '',
    payloadJson: payload ?? '',
    attempts: Number(attempts),
    error: error ?? '',
  };
}
