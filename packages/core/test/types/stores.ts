// The drivers of four stores, as their types look to an application, and what an application holds of each client.
import type Database from 'better-sqlite3';
import type { Connection, Pool as MysqlPool, PoolConnection } from 'mysql2/promise';
import type { Client, Pool as PgPool, PoolClient } from 'pg';
import type {
  Claim,
  FailedJob,
  FailedSelection,
  InTransaction,
  JobState,
  NewJob,
  QueueBatches,
  QueueBatchLeases,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueSchema,
  QueueScratch,
  QueueStats,
  QueueSyncPush,
  QueueTransactions,
  QueueWakeups,
  ReservedJob,
  Scratch,
  ScratchOptions,
} from '../../src/index.js';

/** A client or a pool's client, of any version of pg; a Pool has `totalCount`. */
export interface PgTransaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  readonly totalCount?: never;
}

/** A connection of mysql2; a Pool has `getConnection`, and a client of pg has no `beginTransaction`. */
export interface MysqlTransaction {
  query(sql: string, values: unknown[]): Promise<unknown>;
  beginTransaction(): Promise<void>;
  getConnection?: never;
}

/** The six methods and nothing else. */
export declare class PlainDriver implements QueueDriver {
  push(job: NewJob): Promise<number>;
  reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null>;
  delete(claim: Claim): Promise<boolean>;
  release(claim: Claim, delay: number, error: string): Promise<boolean>;
  fail(claim: Claim, error: string): Promise<boolean>;
  pending(queue?: string | null): Promise<number>;
}

declare class FullDriver extends PlainDriver implements QueueBatches, QueueLeases, QueueBatchLeases, QueueWakeups {
  pushMany(jobs: readonly NewJob[]): Promise<number[]>;
  reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]>;
  deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]>;
  extend(claim: Claim, timeout: number): Promise<boolean>;
  extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]>;
  onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable>;
}

declare class SqlDriver<Tx>
  extends FullDriver
  implements QueueReports, QueueTransactions<Tx>, QueueSchema, QueueInspection, QueueScratch
{
  stats(): Promise<QueueStats[]>;
  failedCount(): Promise<number>;
  failedRows(limit: number): Promise<FailedJob[]>;
  retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number>;
  forgetFailed(which: FailedSelection): Promise<number>;
  within(tx: Tx): InTransaction;
  schema(): string;
  find(id: number): Promise<JobState | null>;
  findFailed(id: number): Promise<FailedJob | null>;
  scratch(options?: ScratchOptions): Promise<Scratch>;
}

export declare class PgDriver extends SqlDriver<PgTransaction> {
  constructor(pool: PgPool);
}

export declare class MysqlDriver extends SqlDriver<MysqlTransaction> {
  constructor(pool: MysqlPool);
}

export declare class SqliteDriver extends SqlDriver<Database.Database> implements QueueSyncPush {
  constructor(db: Database.Database);
  pushSync(job: NewJob): number;
}

export declare class RedisDriver extends FullDriver {}

export declare const pgPool: PgPool;
export declare const pgClient: PoolClient;
export declare const pgPlainClient: Client;
export declare const mysqlPool: MysqlPool;
export declare const mysqlClient: PoolConnection;
export declare const mysqlPlainClient: Connection;
export declare const db: Database.Database;
