import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Harness, JobRow, NewRow, TestStore, TestTransaction } from '@q/conformance';
import type { FailedJob } from '@q/core';
import Database from 'better-sqlite3';
import { SqliteDriver } from '../src/index.js';

export interface StoreKind {
  /** `memory`: one Database, which everybody shares. */
  readonly journal: 'wal' | 'delete' | 'memory';
  readonly safeIntegers?: boolean;
}

/** What conformance needs to know of a SqliteDriver on this kind of database. */
export function harnessFor(kind: StoreKind): Harness {
  return {
    abilities: [
      'reports',
      'transactions',
      'batches',
      'leases',
      'batchLeases',
      'turnover',
      'wakeups',
      'syncPush',
      'schema',
      'inspection',
      'scratch',
      'diagnosis',
    ],
    // One writer at a time; and outside WAL a reader keeps it from committing.
    lacks: kind.journal === 'wal' ? ['concurrentTransactions'] : ['concurrentTransactions', 'concurrentReads'],
    open: async ({ now }) => openStore(kind, now),
  };
}

async function openStore(kind: StoreKind, now: () => Date): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'q-conformance-'));
  const databases: Database.Database[] = [];
  const drivers: SqliteDriver[] = [];

  const connection = (): Database.Database => {
    const shared = kind.journal === 'memory' ? databases[0] : undefined;
    if (shared !== undefined) return shared;
    const db = new Database(kind.journal === 'memory' ? ':memory:' : join(folder, 'app.db'));
    if (kind.journal !== 'memory') db.pragma(`journal_mode = ${kind.journal}`);
    db.defaultSafeIntegers(kind.safeIntegers ?? false);
    databases.push(db);
    return db;
  };
  const connect = async (db = connection()): Promise<SqliteDriver> => {
    const driver = new SqliteDriver(db, { now, onWarning: () => {} });
    drivers.push(driver);
    return driver;
  };

  const app = connection();
  const raw = connection();
  const driver = await connect(app);
  await driver.createTables();
  raw.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  return {
    driver,
    connect: () => connect(),
    insertRow: async (row) => insertRow(raw, row),
    jobRows: async () => rowsOf<StoredJob>(raw, 'queue_jobs').map(jobRow),
    failedRows: async () => rowsOf<StoredFailure>(raw, 'queue_failed_jobs').map(failedRow),
    begin: async () => begin(app),
    notes: async () => raw.prepare('SELECT text FROM notes ORDER BY id').pluck().all() as string[],
    notTransactions: [raw, app.prepare('SELECT 1')],
    close: async () => {
      for (const one of drivers) await one.close();
      for (const db of databases) db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function rowsOf<Row>(db: Database.Database, table: string): Row[] {
  return db.prepare<[], Row>(`SELECT * FROM ${table}`).safeIntegers(false).all();
}

function begin(db: Database.Database): TestTransaction {
  db.exec('BEGIN');
  return {
    tx: db,
    note: async (text) => {
      db.prepare('INSERT INTO notes (text) VALUES (?)').run(text);
    },
    commit: async () => {
      db.exec('COMMIT');
    },
    rollback: async () => {
      db.exec('ROLLBACK');
    },
  };
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

function insertRow(db: Database.Database, row: NewRow): number {
  const keys = Object.keys(row) as (keyof NewRow)[];
  const text = `INSERT INTO queue_jobs (${keys.map((key) => COLUMNS[key]).join()}) VALUES (${keys.map(() => '?').join()})`;
  const values = keys.map((key) => {
    const value = row[key];
    return value instanceof Date ? value.toISOString().slice(0, 19).replace('T', ' ') : value;
  });
  return Number(db.prepare(text).run(...values).lastInsertRowid);
}

interface StoredJob {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly priority: number;
  readonly unique_key: string | null;
  readonly available_at: string;
  readonly reserved_until: string | null;
  readonly reserved_by: string | null;
  readonly last_error: string;
  readonly created_at: string;
}

function jobRow(row: StoredJob): JobRow {
  return {
    id: row.id,
    queue: row.queue,
    name: row.name,
    payloadJson: row.payload,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    priority: row.priority,
    unique: row.unique_key,
    availableAt: moment(row.available_at),
    reservedUntil: row.reserved_until === null ? null : moment(row.reserved_until),
    reservedBy: row.reserved_by,
    lastError: row.last_error,
    createdAt: moment(row.created_at),
  };
}

interface StoredFailure {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: number;
  readonly error: string;
  readonly failed_at: string;
}

function failedRow(row: StoredFailure): FailedJob {
  const { id, queue, name, payload, attempts, error, failed_at } = row;
  return { id, failedAt: moment(failed_at), queue, name, payloadJson: payload, attempts, error };
}

function moment(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}Z`);
}
