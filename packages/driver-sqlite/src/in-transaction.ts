import { type Claim, type InTransaction, type NewJob, QueueError } from '@q/core';
import { checkClaim, encodeJob, encodeJobs, kindOf } from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import { isDatabase, locate, type SqliteDatabase } from './database.js';
import { markTransactionLost } from './errors.js';
import { PreparedStatements } from './prepared.js';
import { pushJob, pushJobsOrNone } from './push.js';
import type { StatementTexts } from './statements.js';
import type { Wakeups } from './wakeups.js';

export interface CallersOptions {
  readonly texts: StatementTexts;
  readonly tables: readonly [table: string, failedTable: string];
  readonly connection: Connection;
  readonly maxPayloadBytes: number;
  readonly now: () => Date;
  readonly wakeups: Wakeups;
}

/**
 * Work on connections of the application's. Each call is done before it returns: what is not yet awaited when the
 * application's synchronous transaction ends is in it all the same. Never a BEGIN, a COMMIT or a savepoint.
 */
export class CallersConnections {
  readonly #app: SqliteDatabase;
  readonly #options: CallersOptions;
  /** By connection, and only while the application keeps it. */
  readonly #prepared = new WeakMap<SqliteDatabase, PreparedStatements>();

  constructor(app: SqliteDatabase, options: CallersOptions) {
    this.#app = app;
    this.#options = options;
  }

  /** Throws `invalid_transaction` for what is not a Database. That a transaction is open is checked at each call. */
  within(tx: unknown): InTransaction {
    if (!isDatabase(tx)) {
      throw new QueueError(
        'invalid_transaction',
        `within takes the better-sqlite3 Database that has the transaction open; got ${kindOf(tx)}`,
      );
    }
    // Async without an await: all is done before the promise is returned, and what is thrown is its rejection.
    return {
      push: async (job) => this.#push(tx, job),
      pushMany: async (jobs) => this.#pushMany(tx, jobs),
      delete: async (claim) => this.#delete(tx, claim),
      isOpen: async () => tx.open && tx.inTransaction,
    };
  }

  /** On the connection the driver was built on, in a transaction or without one. */
  pushSync(job: NewJob): number {
    this.#options.connection.checkOpen();
    const encoded = encodeJob(job, this.#options.maxPayloadBytes);
    return this.#options.wakeups.announce(this.#on(this.#app, (statements, now) => pushJob(statements, encoded, now)));
  }

  #push(db: SqliteDatabase, job: NewJob): number {
    const encoded = encodeJob(job, this.#options.maxPayloadBytes);
    const pushed = this.#inTransaction(db, (statements, now) => pushJob(statements, encoded, now));
    return this.#options.wakeups.announce(pushed);
  }

  #pushMany(db: SqliteDatabase, jobs: readonly NewJob[]): number[] {
    const encoded = encodeJobs(jobs, this.#options.maxPayloadBytes);
    const pushed = this.#inTransaction(db, (statements, now) => pushJobsOrNone(statements, encoded, now));
    return pushed.map((one) => this.#options.wakeups.announce(one));
  }

  #delete(db: SqliteDatabase, claim: Claim): boolean {
    const { id, attempts } = checkClaim(claim);
    return this.#inTransaction(db, (statements) => statements.run('deleteClaim', { id, attempts }) === 1);
  }

  #inTransaction<T>(db: SqliteDatabase, work: (statements: PreparedStatements, now: Date) => T): T {
    this.#options.connection.checkOpen();
    if (db.open && db.inTransaction) return this.#on(db, work);
    throw new QueueError(
      'invalid_transaction',
      'No transaction is open on the Database given to within. Outside of one, call the same method of the queue itself',
    );
  }

  #on<T>(db: SqliteDatabase, work: (statements: PreparedStatements, now: Date) => T): T {
    const statements = this.#statementsOf(db);
    const isInTransaction = db.inTransaction;
    try {
      return work(statements, this.#options.now());
    } catch (error) {
      if (isInTransaction && !db.inTransaction) markTransactionLost(error);
      throw this.#options.connection.missingTables(error, statements) ?? error;
    }
  }

  #statementsOf(db: SqliteDatabase): PreparedStatements {
    const known = this.#prepared.get(db);
    if (known !== undefined) return known;
    this.#checkSameStore(db);
    const prepared = new PreparedStatements(db, this.#options.texts);
    this.#prepared.set(db, prepared);
    return prepared;
  }

  /** A job pushed on a connection to another file would never be found by this driver's workers. */
  #checkSameStore(db: SqliteDatabase): void {
    if (db === this.#app) return;
    const { connection, tables } = this.#options;
    const file = locate(db, tables)?.jobsFile ?? null;
    if (file !== null && file === connection.file) return;
    throw new QueueError(
      'invalid_transaction',
      `The Database given to within is not a connection to ${connection.file ?? 'the database in memory'}, where the jobs are`,
    );
  }
}
