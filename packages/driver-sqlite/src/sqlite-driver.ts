import type {
  Claim,
  FailedJob,
  FailedSelection,
  Finding,
  InTransaction,
  JobState,
  NewJob,
  QueueBatches,
  QueueBatchLeases,
  QueueDiagnosis,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueSchema,
  QueueScratch,
  QueueStats,
  QueueSyncPush,
  QueueTransactions,
  QueueTurnover,
  QueueWakeups,
  ReservedJob,
  Scratch,
  ScratchOptions,
  Turnover,
} from '@q/core';
import * as kit from '@q/core/driver-kit';
import { actOnClaims, claimJobs, deleteAndClaim, deleteClaim, failClaim } from './claim.js';
import { Connection } from './connection.js';
import { checkDatabase, type SqliteDatabase } from './database.js';
import { diagnose } from './diagnosis.js';
import { forget, retry } from './failed-jobs.js';
import { CallersConnections } from './in-transaction.js';
import { type SettledSqliteOptions, type SqliteDriverOptions, settleSqliteOptions } from './options.js';
import { pushJob } from './push.js';
import { countFailed, countPending, findFailed, findJob, readFailed, readStats } from './queries.js';
import { stampAfter } from './rows.js';
import { schema } from './schema.js';
import { dropTables, scratchNames } from './scratch.js';
import { statementTexts } from './statements.js';
import { Wakeups } from './wakeups.js';

/**
 * The jobs of q in SQLite, on the application's better-sqlite3 `Database`. Plain calls run on a connection of the
 * driver's own to the same file; `within` and `pushSync` on the application's. What each method promises is told in the
 * contract (`@q/core`); beyond it, every method rejects with `store_busy` where the database stayed locked for
 * `callTimeout`, and with `store_unavailable` where it is closed, cannot be used or lacks its tables.
 */
export class SqliteDriver
  implements
    QueueDriver,
    QueueReports,
    QueueTransactions<SqliteDatabase>,
    QueueBatches,
    QueueLeases,
    QueueBatchLeases,
    QueueTurnover,
    QueueWakeups,
    QueueSyncPush,
    QueueSchema,
    QueueInspection,
    QueueScratch,
    QueueDiagnosis,
    AsyncDisposable
{
  readonly table: string;
  readonly failedTable: string;
  readonly #app: SqliteDatabase;
  readonly #options: SettledSqliteOptions;
  readonly #connection: Connection;
  readonly #callers: CallersConnections;
  readonly #wakeups: Wakeups;

  /** Throws a `QueueError` where an option is not what it has to be; touches no table and opens nothing. */
  constructor(db: SqliteDatabase, options: SqliteDriverOptions = {}) {
    const settled = settleSqliteOptions(options);
    const { table, failedTable, now, maxPayloadBytes, warn } = settled;
    const texts = statementTexts({ table, failedTable });
    this.table = table;
    this.failedTable = failedTable;
    this.#options = settled;
    this.#app = checkDatabase(db);
    this.#connection = new Connection(db, texts, settled);
    this.#wakeups = new Wakeups(this.#connection, warn);
    this.#callers = new CallersConnections(db, {
      texts,
      tables: [table, failedTable],
      connection: this.#connection,
      maxPayloadBytes,
      now,
      wakeups: this.#wakeups,
    });
  }

  async push(job: NewJob): Promise<number> {
    const encoded = kit.encodeJob(job, this.#options.maxPayloadBytes);
    const pushed = await this.#connection.write((statements, now) => pushJob(statements, encoded, now));
    return this.#wakeups.announce(pushed);
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = kit.encodeJobs(jobs, this.#options.maxPayloadBytes);
    if (encoded.length === 0) return [];
    const pushed = await this.#connection.write((statements, now) => {
      return encoded.map((job) => pushJob(statements, job, now));
    });
    return pushed.map((one) => this.#wakeups.announce(one));
  }

  pushSync(job: NewJob): number {
    return this.#callers.pushSync(job);
  }

  within(tx: SqliteDatabase): InTransaction {
    return this.#callers.within(tx);
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const [job = null] = await this.reserveMany(queues, 1, timeout, worker);
    return job;
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    return claimJobs(this.#connection, kit.claimRequest(queues, limit, timeout, worker), this.#options);
  }

  async delete(claim: Claim): Promise<boolean> {
    return (await this.deleteMany([claim])).length === 0;
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return actOnClaims(this.#connection, claims, deleteClaim);
  }

  async deleteAndReserve<C extends Claim>(
    claims: readonly C[],
    queues: readonly string[],
    limit: number,
    timeout: number,
    worker: string,
  ): Promise<Turnover<C>> {
    return deleteAndClaim(this.#connection, claims, kit.claimRequest(queues, limit, timeout, worker));
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    const seconds = kit.checkDelay(delay);
    const text = kit.trimErrorText(error);
    const lost = await actOnClaims(this.#connection, [claim], (statements, { id, attempts }, now) => {
      return statements.run('release', { id, attempts, availableAt: stampAfter(now, seconds), error: text }) === 1;
    });
    return lost.length === 0;
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const text = kit.trimErrorText(error);
    const lost = await actOnClaims(this.#connection, [claim], (statements, { id, attempts }, now) => {
      return failClaim(statements, { id, attempts, error: text }, now);
    });
    return lost.length === 0;
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    return (await this.extendMany([claim], timeout)).length === 0;
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    const seconds = kit.checkTimeout(timeout);
    return actOnClaims(this.#connection, claims, (statements, { id, attempts }, now) => {
      return statements.run('extend', { id, attempts, until: stampAfter(now, seconds) }) === 1;
    });
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : kit.checkText('queue', queue);
    return this.#connection.read((statements, now) => countPending(statements, name, now));
  }

  async stats(): Promise<QueueStats[]> {
    return this.#connection.read(readStats);
  }

  async failedCount(): Promise<number> {
    return this.#connection.read(countFailed);
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    const checked = kit.checkLimit(limit);
    return this.#connection.read((statements) => readFailed(statements, checked));
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const request = { which: kit.checkRetrySelection(which), maxAttempts: kit.checkMaxAttempts(maxAttempts) };
    return retry(this.#connection, request, (queue) => this.#wakeups.pushed(queue));
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    const selection = kit.checkForgetSelection(which);
    return this.#connection.write((statements) => forget(statements, selection));
  }

  async find(id: number): Promise<JobState | null> {
    const checked = kit.checkInteger('The id of a job', id);
    return this.#connection.read((statements, now) => findJob(statements, checked, now));
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    const checked = kit.checkInteger('The id of a failed job', id);
    return this.#connection.read((statements) => findFailed(statements, checked));
  }

  async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const names = kit.checkQueues(queues);
    this.#connection.checkOpen();
    return this.#wakeups.subscribe(names, wake);
  }

  schema(): string {
    return schema(this);
  }

  /** Creates the tables where they are not there. For tests, demos and whoever wants it; `q install` writes a migration. */
  async createTables(): Promise<void> {
    // One transaction: of processes that start together each waits for the one before, and finds the tables there.
    await this.#connection.write((statements) => statements.db.exec(this.schema()), 'made');
  }

  async scratch(options: ScratchOptions = {}): Promise<Scratch> {
    const { warn, now, ...settings } = this.#options;
    const own = { ...scratchNames(this.table), now: options.now ?? now, onWarning: options.onWarning ?? warn };
    const open = () => new SqliteDriver(this.#app, { ...settings, ...own });
    const [driver, others] = [open(), [] as SqliteDriver[]];
    await driver.createTables();
    return {
      driver,
      connect: async () => others[others.push(open()) - 1] as SqliteDriver, // the cast: just pushed
      async [Symbol.asyncDispose]() {
        await Promise.all(others.map((other) => other.close()));
        await driver.#connection.write(dropTables);
        await driver.close();
      },
    };
  }

  async diagnose(): Promise<Finding[]> {
    return diagnose(this.#connection, this);
  }

  /** Ends the driver's connection and watching. What is still waiting for a lock rejects. The Database stays open. */
  async close(): Promise<void> {
    this.#wakeups.close();
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
