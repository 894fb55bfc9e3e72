import { setTimeout as sleep } from 'node:timers/promises';
import { QueueError, type QueueWarning } from '@q/core';
import { bareTableName } from '@q/core/driver-kit';
import { type Location, locate, openAnother, type SqliteDatabase } from './database.js';
import { ConnectionInUse, closedDatabase, closedDriver, isBusy, missingTables, unusable } from './errors.js';
import { PreparedStatements } from './prepared.js';
import type { StatementTexts } from './statements.js';

export interface ConnectionOptions {
  readonly table: string;
  readonly failedTable: string;
  /** Seconds a call may wait for a lock. */
  readonly callTimeout: number;
  readonly now: () => Date;
  readonly warn: (warning: QueueWarning) => void;
}

/** What is done in one go. The time is that of the attempt: whoever waited for a lock acts at the moment it is had. */
type Work<T> = (statements: PreparedStatements, now: Date) => T;

/**
 * The driver's way to the database: a connection of its own to the application's file. On the application's connection
 * a plain push would land in whatever transaction happens to be open there, and could vanish with its rollback. Only for
 * a database that no second connection can see (`:memory:`, temporary) it is the application's, used while that has no
 * transaction open.
 *
 * Work is synchronous, so no transaction is ever open across an await. Nothing waits inside SQLite, which would block
 * the event loop: whoever finds a lock comes back a few milliseconds later, and starts from the beginning.
 */
export class Connection {
  readonly #app: SqliteDatabase;
  readonly #texts: StatementTexts;
  readonly #options: ConnectionOptions;
  readonly #location: Location | null;
  readonly #writers = new Turns();
  #own: SqliteDatabase | null = null;
  #prepared: PreparedStatements | null = null;
  #isClosed = false;

  /** Throws `store_unavailable` where a schema in the table names is not attached. */
  constructor(app: SqliteDatabase, texts: StatementTexts, options: ConnectionOptions) {
    this.#app = app;
    this.#texts = texts;
    this.#options = options;
    this.#location = locate(app, [options.table, options.failedTable]);
  }

  /** The file the jobs are in; null: in memory, on the application's connection. */
  get file(): string | null {
    return this.#location?.jobsFile ?? null;
  }

  /** Statements outside any transaction: each sees what is committed at its moment. */
  async read<T>(work: Work<T>): Promise<T> {
    return this.#waitOut(() => this.#attempt(work), this.#deadline());
  }

  /**
   * One writing transaction, all or nothing; `work` is started anew where it meets a lock. One at a time in the order of
   * the calls, so that a thousand waiting pushes are one waiting for the lock. `'made'`: the work makes the tables, so
   * that they are missing explains no error.
   */
  async write<T>(work: Work<T>, tables: 'needed' | 'made' = 'needed'): Promise<T> {
    const deadline = this.#deadline();
    return this.#writers.take(() => this.#waitOut(() => this.#attempt(inTransaction(work), tables), deadline));
  }

  /** A read at once or not at all: throws where the database is busy. */
  glance<T>(work: Work<T>): T {
    return this.#attempt(work);
  }

  /** Throws `store_unavailable` once the driver is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw closedDriver();
  }

  /** What is waiting rejects. Never closes what the application opened. */
  close(): void {
    this.#isClosed = true;
    this.#prepared = null;
    this.#own?.close();
    this.#own = null;
  }

  #attempt<T>(work: Work<T>, tables: 'needed' | 'made' = 'needed'): T {
    this.checkOpen();
    const db = this.#location === null ? this.#given() : this.#ours(this.#location);
    this.#prepared ??= new PreparedStatements(db, this.#texts);
    try {
      return work(this.#prepared, this.#options.now());
    } catch (error) {
      const missing = tables === 'needed' ? this.missingTables(error, this.#prepared) : null;
      throw missing ?? this.#unusable(error) ?? error;
    }
  }

  #given(): SqliteDatabase {
    if (!this.#app.open) throw closedDatabase();
    if (this.#app.inTransaction) throw new ConnectionInUse();
    return this.#app;
  }

  #ours(location: Location): SqliteDatabase {
    if (this.#own !== null) return this.#own;
    const db = this.#opened(location);
    try {
      this.#recommendWal(db, location);
    } catch (error) {
      db.close();
      throw this.#unopened(error, location);
    }
    this.#own = db;
    return db;
  }

  #opened(location: Location): SqliteDatabase {
    try {
      return openAnother(this.#app, location);
    } catch (error) {
      throw this.#unopened(error, location);
    }
  }

  #unopened(error: unknown, { mainFile }: Location): unknown {
    if (isBusy(error)) return error;
    return (
      this.#unusable(error) ??
      new QueueError('store_unavailable', `${mainFile} could not be opened again`, { cause: error })
    );
  }

  #recommendWal(db: SqliteDatabase, { jobsFile }: Location): void {
    // The cast: the one column of the pragma.
    const [row] = db.prepare('PRAGMA journal_mode').all() as { readonly journal_mode: string }[];
    if (row === undefined || row.journal_mode === 'wal') return;
    this.#options.warn({
      code: 'journal_not_wal',
      message:
        `${jobsFile} is in journal mode ${row.journal_mode}, in which readers and the writer wait for each other. ` +
        "WAL is recommended: db.pragma('journal_mode = WAL')",
    });
  }

  /** The error to throw where the tables are missing, on whichever connection that was found; null where they are not. */
  missingTables(error: unknown, statements: PreparedStatements): QueueError | null {
    const { table, failedTable } = this.#options;
    const names = { table: bareTableName(table), failedTable: bareTableName(failedTable) };
    const areThere = () => statements.all('findTables', names).length === 2;
    return missingTables(error, areThere, `"${table}" and "${failedTable}"`);
  }

  #unusable(error: unknown): QueueError | null {
    return unusable(error, this.#location?.mainFile ?? 'The Database');
  }

  async #waitOut<T>(attempt: () => T, deadline: number): Promise<T> {
    for (let round = 0; ; round += 1) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error)) throw error;
        const left = deadline - performance.now();
        if (left <= 0) throw this.#gaveUp(error);
        await sleep(Math.min(pauseMs(round), left));
      }
    }
  }

  #deadline(): number {
    return performance.now() + this.#options.callTimeout * 1000;
  }

  #gaveUp(cause: unknown): QueueError {
    const who = this.#location === null ? 'The Database' : this.#location.jobsFile;
    const why = this.#app.open && this.#app.inTransaction ? OWN_TRANSACTION : '';
    const message = `${who} stayed locked for ${this.#options.callTimeout} s (callTimeout)${why}`;
    return new QueueError('store_busy', message, { cause });
  }
}

const OWN_TRANSACTION =
  '. The connection that SqliteDriver was given has a transaction open: what belongs to it is pushed with ' +
  'within(db) or pushSync, and a plain call is not to be awaited before it has ended';

function inTransaction<T>(work: Work<T>): Work<T> {
  return (statements, now) => {
    begin(statements);
    try {
      const result = work(statements, now);
      // A commit may still be refused (by a reader, outside WAL): then all of it is undone and done again.
      statements.run('commit');
      return result;
    } catch (error) {
      if (statements.db.inTransaction) statements.run('rollback');
      throw error;
    }
  };
}

function begin(statements: PreparedStatements): void {
  try {
    statements.run('begin');
  } catch (error) {
    // The client's, not SQLite's: on the application's connection an iterator of the application's is open.
    if (error instanceof TypeError && statements.db.open) throw new ConnectionInUse(undefined, { cause: error });
    throw error;
  }
}

/** Short at first, since most locks last a fraction of a millisecond; uneven, so that two who wait do not keep step. */
function pauseMs(round: number): number {
  return Math.min(2 ** round, 25) * (0.5 + Math.random() / 2);
}

/** One after the other, in the order of asking. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
