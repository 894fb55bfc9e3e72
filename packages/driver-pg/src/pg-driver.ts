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
  QueueTransactions,
  QueueTurnover,
  QueueWakeups,
  ReservedJob,
  Scratch,
  ScratchOptions,
  Turnover,
} from '@q/core';
import * as kit from '@q/core/driver-kit';
import { actOnClaim, actOnClaims, claimJobs, deleteAndClaim, deleteClaims, failClaim } from './claim.js';
import { checkPool, type PgPool, type PgTransaction } from './client.js';
import { Connection } from './connection.js';
import { diagnose } from './diagnosis.js';
import { forget, retry } from './failed-jobs.js';
import { CallersClients } from './in-transaction.js';
import { Notifier } from './notifier.js';
import { type PgDriverOptions, type SettledPgOptions, settlePgOptions } from './options.js';
import { pushJob, pushJobs } from './push.js';
import { countFailed, countPending, findFailed, findJob, readFailed, readStats } from './queries.js';
import { type ActedRow, stampAfter } from './rows.js';
import { schema } from './schema.js';
import { statementTexts } from './statements.js';
import { StrandedRows } from './stranded-rows.js';
import { scratchNames } from './table-names.js';
import { Wakeups } from './wakeups.js';

/**
 * The jobs of q in Postgres, on the application's `Pool` of pg. A plain call takes one connection of the pool for as long
 * as it lasts; `within` works on the client that it is given. What each method promises is told in the contract
 * (`@q/core`); beyond it, every method rejects with `call_timeout` where there was no connection, or no answer, within
 * `callTimeout`, and with `store_unavailable` where the driver is closed or the tables are not there. Any other error of
 * the server's or of pg's is passed on as it is.
 */
export class PgDriver
  implements
    QueueDriver,
    QueueReports,
    QueueTransactions<PgTransaction>,
    QueueBatches,
    QueueLeases,
    QueueBatchLeases,
    QueueTurnover,
    QueueWakeups,
    QueueSchema,
    QueueInspection,
    QueueScratch,
    QueueDiagnosis,
    AsyncDisposable
{
  readonly table: string;
  readonly failedTable: string;
  readonly #pool: PgPool;
  readonly #options: SettledPgOptions;
  readonly #connection: Connection;
  readonly #callers: CallersClients;
  readonly #notifier: Notifier;
  readonly #wakeups: Wakeups;
  readonly #stranded: StrandedRows;

  /** Throws a `QueueError` where an option is not what it has to be; connects to nothing. */
  constructor(pool: PgPool, options: PgDriverOptions = {}) {
    const settled = settlePgOptions(options);
    const { table, failedTable, now, maxPayloadBytes, notify, listen, warn } = settled;
    const texts = statementTexts({ table, failedTable });
    this.table = table;
    this.failedTable = failedTable;
    this.#options = settled;
    this.#pool = checkPool(pool);
    this.#connection = new Connection(pool, texts, settled);
    this.#callers = new CallersClients({
      connection: this.#connection,
      maxPayloadBytes,
      now,
      notifies: notify === true,
    });
    this.#notifier = new Notifier(this.#connection, notify !== false);
    this.#wakeups = new Wakeups({ pool, texts, connection: this.#connection, listen, warn });
    this.#stranded = new StrandedRows(table, warn);
  }

  async push(job: NewJob): Promise<number> {
    const encoded = kit.encodeJob(job, this.#options.maxPayloadBytes);
    const notifies = this.#notifier.takesTurn(encoded.queue);
    const { id, isNew } = await this.#connection.run((session, now) => pushJob(session, encoded, { now, notifies }));
    if (isNew && !notifies) this.#notifier.pushed(encoded.queue);
    if (isNew) this.#wakeups.pushed(encoded.queue);
    return id;
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = kit.encodeJobs(jobs, this.#options.maxPayloadBytes);
    if (encoded.length === 0) return [];
    const pushed = await this.#connection.transaction((session, now) => pushJobs(session, encoded, now));
    for (const queue of new Set(encoded.filter((_, index) => pushed[index]?.isNew).map(({ queue }) => queue))) {
      this.#pushed(queue);
    }
    return pushed.map(({ id }) => id);
  }

  within(tx: PgTransaction): InTransaction {
    return this.#callers.within(tx);
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const [job = null] = await this.reserveMany(queues, 1, timeout, worker);
    return job;
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    const request = kit.claimRequest(queues, limit, timeout, worker);
    return this.#connection.run(async (session, now) => {
      const jobs = await claimJobs(session, request, now);
      if (jobs.length === 0) await this.#stranded.look(session);
      return jobs;
    });
  }

  async delete(claim: Claim): Promise<boolean> {
    return actOnClaim(this.#connection, claim, (session, { id, attempts }) => {
      return session.run('deleteClaim', [id, attempts]);
    });
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return deleteClaims(this.#connection, claims);
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
    return actOnClaim(this.#connection, claim, (session, { id, attempts }, now) => {
      return session.run('release', [id, attempts, stampAfter(now, seconds), text]);
    });
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const text = kit.trimErrorText(error);
    return actOnClaim(this.#connection, claim, (session, checked, now) => failClaim(session, checked, text, now));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    const seconds = kit.checkTimeout(timeout);
    return actOnClaim(this.#connection, claim, (session, { id, attempts }, now) => {
      return session.run('extend', [id, attempts, stampAfter(now, seconds)]);
    });
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    const seconds = kit.checkTimeout(timeout);
    return actOnClaims(this.#connection, claims, (session, ids, attempts, now) => {
      return session.all<ActedRow>('extendMany', [ids, attempts, stampAfter(now, seconds)]);
    });
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : kit.checkText('queue', queue);
    return this.#connection.run((session, now) => countPending(session, name, now));
  }

  async stats(): Promise<QueueStats[]> {
    return this.#connection.run(readStats);
  }

  async failedCount(): Promise<number> {
    return this.#connection.run(countFailed);
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    const checked = kit.checkLimit(limit);
    return this.#connection.run((session) => readFailed(session, checked));
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const request = { which: kit.checkRetrySelection(which), maxAttempts: kit.checkMaxAttempts(maxAttempts) };
    return retry(this.#connection, request, (queue) => this.#pushed(queue));
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    const selection = kit.checkForgetSelection(which);
    return this.#connection.run((session) => forget(session, selection));
  }

  async find(id: number): Promise<JobState | null> {
    const checked = kit.checkInteger('The id of a job', id);
    return this.#connection.run((session, now) => findJob(session, checked, now));
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    const checked = kit.checkInteger('The id of a failed job', id);
    return this.#connection.run((session) => findFailed(session, checked));
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
    await this.#connection.transaction(async (session) => {
      await session.run('lockTables', [this.table]);
      await session.script(this.schema());
    });
  }

  async scratch(options: ScratchOptions = {}): Promise<Scratch> {
    const { warn, listen, now, ...settings } = this.#options;
    const names = scratchNames(this.table);
    const own = {
      now: options.now ?? now,
      onWarning: options.onWarning ?? warn,
      ...(listen === null ? {} : { listen }),
    };
    const open = () => new PgDriver(this.#pool, { ...settings, ...names, ...own });
    const [driver, others] = [open(), [] as PgDriver[]];
    await driver.createTables();
    return {
      driver,
      connect: async () => others[others.push(open()) - 1] as PgDriver, // the cast: just pushed
      async [Symbol.asyncDispose]() {
        await Promise.all(others.map((other) => other.close()));
        await driver.#dropTables();
      },
    };
  }

  async diagnose(): Promise<Finding[]> {
    const notifies = this.#options.notify !== false;
    return diagnose({ connection: this.#connection, wakeups: this.#wakeups, notifies, names: this });
  }

  /** Ends what listens for pushes. Calls under way still end. The pool stays open. */
  async close(): Promise<void> {
    await this.#notifier.close();
    this.#connection.close();
    await this.#wakeups.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #pushed(queue: string): void {
    this.#notifier.pushed(queue);
    this.#wakeups.pushed(queue);
  }

  async #dropTables(): Promise<void> {
    await this.#connection.run(async (session) => {
      await session.run('dropJobs');
      await session.run('dropFailed');
    });
    await this.close();
  }
}
