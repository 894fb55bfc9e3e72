import { randomBytes } from 'node:crypto';
import {
  type Claim,
  type FailedJob,
  type FailedSelection,
  type Finding,
  type InTransaction,
  type JobState,
  type NewJob,
  type QueueBatches,
  type QueueBatchLeases,
  type QueueDiagnosis,
  type QueueDriver,
  QueueError,
  type QueueInspection,
  type QueueLeases,
  type QueueReports,
  type QueueSchema,
  type QueueScratch,
  type QueueStats,
  type QueueTransactions,
  type QueueWakeups,
  type ReservedJob,
  type Scratch,
  type ScratchOptions,
} from '@q/core';
import * as kit from '@q/core/driver-kit';
import { actOnClaims, claimJobs, failClaim } from './claim.js';
import { checkPool, type MysqlPool, type MysqlTransaction } from './client.js';
import { Connection } from './connection.js';
import { diagnose } from './diagnosis.js';
import { forget, retry } from './failed-jobs.js';
import { CallersConnections } from './in-transaction.js';
import { IdTable } from './literals.js';
import { type MysqlDriverOptions, type SettledMysqlOptions, settleMysqlOptions } from './options.js';
import { pushJob, pushManyWithin } from './push.js';
import { countFailed, countPending, findFailed, findJob, readFailed, readStats } from './queries.js';
import { stampAfter } from './rows.js';
import { schema, tables } from './schema.js';
import { Server } from './server-version.js';
import { statementTexts } from './statements.js';
import { StrandedRows } from './stranded-rows.js';
import { Wakeups } from './wakeups.js';

/**
 * The jobs of q in MySQL or MariaDB, on the application's pool of mysql2. A plain call takes one connection of the pool for
 * as long as it lasts; `within` works on the connection that it is given. What each method promises is told in the contract
 * (`@q/core`); beyond it, every method rejects with `call_timeout` where there was no connection, or no answer, within
 * `callTimeout`, and with `store_unavailable` where the driver is closed, the tables are not there, or the server logs for
 * replication by statement. Any other error of the server's or of mysql2's is passed on as it is.
 */
export class MysqlDriver
  implements
    QueueDriver,
    QueueReports,
    QueueTransactions<MysqlTransaction>,
    QueueBatches,
    QueueLeases,
    QueueBatchLeases,
    QueueWakeups,
    QueueSchema,
    QueueInspection,
    QueueScratch,
    QueueDiagnosis,
    AsyncDisposable
{
  readonly table: string;
  readonly failedTable: string;
  readonly #pool: MysqlPool;
  readonly #options: SettledMysqlOptions;
  readonly #connection: Connection;
  readonly #server = new Server();
  readonly #callers: CallersConnections;
  readonly #wakeups: Wakeups;
  readonly #stranded: StrandedRows;

  /** Throws a `QueueError` where an option is not what it has to be; connects to nothing. */
  constructor(pool: MysqlPool, options: MysqlDriverOptions = {}) {
    const settled = settleMysqlOptions(options);
    const { table, failedTable, now, maxPayloadBytes, lookEveryMs, warn } = settled;
    this.table = table;
    this.failedTable = failedTable;
    this.#options = settled;
    this.#pool = pool;
    this.#connection = new Connection(checkPool(pool), statementTexts({ table, failedTable }), settled);
    this.#callers = new CallersConnections({ connection: this.#connection, maxPayloadBytes, now });
    this.#wakeups = new Wakeups(this.#connection, lookEveryMs);
    this.#stranded = new StrandedRows(table, warn);
  }

  async push(job: NewJob): Promise<number> {
    const encoded = kit.encodeJob(job, this.#options.maxPayloadBytes);
    const { id, isNew } = await pushJob(this.#connection, encoded);
    if (isNew) this.#wakeups.pushed(encoded.queue);
    return id;
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = kit.encodeJobs(jobs, this.#options.maxPayloadBytes);
    if (encoded.length === 0) return [];
    const pushed = await this.#connection.transaction((session, now) => pushManyWithin(session, encoded, now));
    for (const queue of new Set(encoded.filter((_, index) => pushed[index]?.isNew).map(({ queue }) => queue))) {
      this.#wakeups.pushed(queue);
    }
    return pushed.map(({ id }) => id);
  }

  within(tx: MysqlTransaction): InTransaction {
    return this.#callers.within(tx);
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const [job = null] = await this.reserveMany(queues, 1, timeout, worker);
    return job;
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    const request = kit.claimRequest(queues, limit, timeout, worker);
    const jobs = request.queues.length === 0 ? [] : await claimJobs(this.#connection, this.#server, request);
    this.#wakeups.reserved(request.worker, jobs.length === request.limit);
    if (jobs.length === 0) await this.#stranded.look(this.#connection);
    return jobs;
  }

  async delete(claim: Claim): Promise<boolean> {
    const { id, attempts } = kit.checkClaim(claim);
    return this.#connection.alone(async (session) => (await session.run('deleteClaim', { id, attempts })).rows === 1);
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return actOnClaims(this.#connection, claims, (session, ids) =>
      session.run('deleteLocked', { ids: new IdTable(ids) }),
    );
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    const { id, attempts } = kit.checkClaim(claim);
    const seconds = kit.checkDelay(delay);
    const text = kit.trimErrorText(error);
    return this.#connection.alone(async (session, now) => {
      const values = { id, attempts, availableAt: stampAfter(now, seconds), error: text };
      return (await session.run('release', values)).rows === 1;
    });
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const checked = kit.checkClaim(claim);
    const text = kit.trimErrorText(error);
    return this.#connection.transaction((session, now) => failClaim(session, checked, text, now));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    return (await this.extendMany([claim], timeout)).length === 0;
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    const seconds = kit.checkTimeout(timeout);
    return actOnClaims(this.#connection, claims, (session, ids, now) => {
      return session.run('extendLocked', { ids, until: stampAfter(now, seconds) });
    });
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : kit.checkText('queue', queue);
    return this.#connection.read((session, now) => countPending(session, name, now));
  }

  async stats(): Promise<QueueStats[]> {
    return this.#connection.read(readStats);
  }

  async failedCount(): Promise<number> {
    return this.#connection.read(countFailed);
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    const checked = kit.checkLimit(limit);
    return this.#connection.read((session) => readFailed(session, checked));
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const request = { which: kit.checkRetrySelection(which), maxAttempts: kit.checkMaxAttempts(maxAttempts) };
    return retry(this.#connection, request, (queue) => this.#wakeups.pushed(queue));
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    return forget(this.#connection, kit.checkForgetSelection(which));
  }

  async find(id: number): Promise<JobState | null> {
    const checked = kit.checkInteger('The id of a job', id);
    return this.#connection.read((session, now) => findJob(session, checked, now));
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    const checked = kit.checkInteger('The id of a failed job', id);
    return this.#connection.read((session) => findFailed(session, checked));
  }

  async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const names = kit.checkQueues(queues);
    kit.checkWake(wake);
    this.#connection.checkOpen();
    return this.#wakeups.subscribe(names, wake);
  }

  schema(): string {
    return schema(this);
  }

  /** Creates the tables where they are not there. For tests, demos and whoever wants it; `q install` writes a migration. */
  async createTables(): Promise<void> {
    await this.#connection.bare(async (session) => {
      const { callTimeout } = this.#options;
      const lock = await session.first<{ readonly locked: string | null }>('lockTables', { seconds: callTimeout });
      if (lock?.locked !== '1') {
        throw new QueueError('store_busy', `Somebody else was creating tables for ${callTimeout} s (callTimeout)`);
      }
      try {
        for (const table of tables(this)) await session.define(table);
      } finally {
        // A broken connection is destroyed, and its lock with it.
        if (!session.isBroken) await session.first('unlockTables');
      }
    });
  }

  async scratch(options: ScratchOptions = {}): Promise<Scratch> {
    const { warn, now, ...settings } = this.#options;
    const table = scratchTable(this.table);
    const own = {
      table,
      failedTable: `${table}_failed`,
      now: options.now ?? now,
      onWarning: options.onWarning ?? warn,
    };
    const open = () => new MysqlDriver(this.#pool, { ...settings, ...own });
    const [driver, others] = [open(), [] as MysqlDriver[]];
    await driver.createTables();
    return {
      driver,
      connect: async () => others[others.push(open()) - 1] as MysqlDriver, // the cast: just pushed
      async [Symbol.asyncDispose]() {
        await Promise.all(others.map((other) => other.close()));
        await driver.#dropTables();
      },
    };
  }

  async diagnose(): Promise<Finding[]> {
    return diagnose(this.#connection, this);
  }

  /** Ends the looking for pushes. Calls under way still end. The pool stays open. */
  async close(): Promise<void> {
    this.#wakeups.close();
    this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #dropTables(): Promise<void> {
    await this.#connection.bare(async (session) => {
      await session.run('dropJobs');
      await session.run('dropFailed');
    });
    await this.close();
  }
}

/** A name nobody has, in the same database. */
function scratchTable(table: string): string {
  const dot = table.indexOf('.');
  return `${table.slice(0, dot + 1)}queue_scratch_${randomBytes(6).toString('hex')}`;
}
