import type { Ability, FailedJob, JobState, QueueDriver } from '@q/core';

/**
 * What the author of a driver gives the suite: how to get a fresh store with a driver on it, and a few back doors.
 *
 * The suite judges a driver by the contract (`driver.ts` in `@q/core`) and knows nothing of the store behind it. Where the
 * contract speaks of what is *stored*, it looks through the back doors, which the harness implements with the store's own
 * client, never with the driver that is being judged.
 */
export interface Harness {
  /**
   * What the driver promises beyond the six methods. The first case fails unless it has exactly these, all methods of
   * each. Cases about anything else are skipped, and say so.
   */
  readonly abilities: readonly Ability[];
  /**
   * What this store or this harness cannot do. Default: nothing, so that what is forgotten fails instead of passing
   * unseen. Cases that need one of these are skipped, and say so.
   */
  readonly lacks?: readonly Trait[] | undefined;
  /** A fresh, empty store, for one case alone. Truncating is enough; what an earlier case left behind is not. */
  open(options: OpenOptions): Promise<TestStore>;
}

export interface OpenOptions {
  /**
   * The time of day: hand it to every driver as its `now` option. The suite moves it by hand (nothing sleeps), and it is
   * years away from the real time, so a driver that asks the server's clock is found out.
   */
  readonly now: () => Date;
}

/** What a store or its harness may lack, without being wrong. */
export const TRAITS = {
  exactOrder: 'within a queue and a priority, jobs are reserved by due time and then by id',
  chosenIds: 'a row can be written under an id of the writer’s choosing',
  wideIds: 'a row can be written under an id beyond 2^53 − 1, which no JavaScript number holds',
  columnDefaults: 'a row can be written with its required columns alone',
  concurrentReads: 'another client can read while a transaction is open',
  concurrentTransactions: 'the application can have two transactions open at a time',
  insertRow: 'a job can be written behind the driver’s back',
  jobRows: 'the stored jobs can be read behind the driver’s back',
  failedRows: 'the failed store can be read behind the driver’s back',
} as const;

export type Trait = keyof typeof TRAITS;

/** What a case asks for before it is run: abilities of the driver, traits of its store and harness. */
export type Need = Ability | Trait;

/** One store, as two applications' processes would see it, and the back doors to it. */
export interface TestStore {
  /** The first client: the driver that is judged. */
  readonly driver: QueueDriver;

  /**
   * Another client of the same store, as another process would be one: a driver instance and a connection of its own,
   * the same clock, the same options. May be called more than once. A store that one client alone can open gives the
   * first again; nothing fails by that, and races are looked for in vain.
   */
  connect(): Promise<QueueDriver>;

  /** The case is over: closes every client and connection opened for it, and what they still listen to. */
  close(): Promise<void>;

  /**
   * Back door: writes a job as another language, a trigger or a human would, and resolves to its id. Nothing is checked
   * or encoded: `payloadJson` may be no JSON at all. A column that is left out is left out of the statement too, so that
   * the table's own default counts (where a column can have none, as `last_error` on MySQL, write what the contract says
   * a push writes). A store without tables pushes a job and overwrites what is stored of it.
   */
  insertRow?(row: NewRow): Promise<number>;

  /** Back door: every job in the store, in any order, times exactly as they are stored, a fraction of a second included. */
  jobRows?(): Promise<readonly JobRow[]>;

  /**
   * Back door: everything in the failed store, in any order. Drivers without reports have one too: a job that failed is
   * somewhere a human can find it.
   */
  failedRows?(): Promise<readonly FailedJob[]>;

  /**
   * For `transactions`: begins a transaction as the application would, on a connection of the application's own. The
   * suite ends every one it began, one way or the other.
   */
  begin?(): Promise<TestTransaction>;

  /**
   * For `transactions`: the committed rows of a table of the application's, in the order they were written. It is how
   * the suite shows that the application's rows and its jobs live and die together.
   */
  notes?(): Promise<readonly string[]>;

  /**
   * For `transactions`: what an application may pass to `within` by mistake, its pool above all; a connection on which
   * no transaction is open, where the driver can tell. Each must be refused. The suite adds values that are no client.
   */
  readonly notTransactions?: readonly unknown[];
}

/** A transaction of the application's. */
export interface TestTransaction {
  /** What the application would pass to `driver.within`. */
  readonly tx: unknown;
  /** Writes a row to the application's own table, in this transaction. Rejects where the transaction is not usable. */
  note(text: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A stored job, column by column. */
export type JobRow = Omit<JobState, 'state' | 'ahead'>;

/** A job to be written behind the driver's back: the columns that have no default, and whichever others are given. */
export type NewRow = Pick<JobRow, 'name' | 'payloadJson' | 'availableAt' | 'createdAt'> &
  Partial<Omit<JobRow, 'id'>> & {
    /** With `chosenIds`; with `wideIds` a bigint, where a number cannot hold it. */
    readonly id?: number | bigint;
  };
