/// <reference types="node" preserve="true" />
/**
 * The contract between q and a store. This is the page an author of a driver reads; docs/protocol.md tells the same as
 * a story, and `@q/conformance` checks every sentence of it.
 *
 * A driver implements `QueueDriver`: the six things a worker needs. Every further ability is an interface of its own,
 * implemented only by a store that truly has it; core finds out with a guard (abilities.ts), never by a flag.
 *
 * What holds for every method:
 * - Durations are whole seconds. Any safe integer is accepted; one below a floor (`delay` 0, `maxAttempts` 1, `limit` 1)
 *   is raised to it. NaN, Infinity, fractions and what is not a number are a `QueueError` (`invalid_number`).
 * - Queue, name, unique key and worker are checked (docs/protocol.md#text-limits) before the store is touched
 *   (`@q/core/driver-kit` has the checks), and compared byte for byte.
 * - Time is the driver's `now` option, never the server's clock. Zero means now, rounded down to the whole second;
 *   anything longer is rounded up, so nothing is ever early and nothing is more than a second late.
 * - A method rejects with the client's own error when the store failed, and with a `QueueError` when it was called
 *   wrongly. It never rejects because a job or a claim is not there: that is an answer.
 */

import type { Ability } from './abilities.js';

/** What is pushed: JSON-encodable, and a plain object or an array at the top (payload.ts tells what is refused). */
export type Payload = object;

/** A job as a driver is given it. `Queue` fills in the defaults. */
export interface NewJob {
  /** The name a handler is registered under, 1–190 characters. A driver takes any name within the limits. */
  readonly name: string;
  readonly payload: Payload;
  /** Seconds until the job may be reserved; 0 is now. */
  readonly delay: number;
  /** 1–64 characters. */
  readonly queue: string;
  /** Higher goes first. */
  readonly priority: number;
  /** While a job with this key is in the jobs table, pushing the key again gives that job's id. `''` and null: no key. */
  readonly unique: string | null;
  /** How often the job may be started, the first run included. */
  readonly maxAttempts: number;
}

/**
 * The name of one claim on one job. `attempts` rises with every claim and never falls, so the pair tells this claim from
 * every earlier and later one: it is the fence behind which `delete`, `release`, `fail` and `extend` act.
 */
export interface Claim {
  readonly id: number;
  /** How often the job has been claimed, this claim included: the first reads 1. */
  readonly attempts: number;
  /** Private to the driver (the stream entry on Redis); `''` on SQL. */
  readonly handle: string;
}

/** A job as `reserve` hands it out: claimed for the caller until its deadline. */
export interface ReservedJob extends Claim {
  readonly queue: string;
  /** As it was pushed, whatever class the name resolves to. */
  readonly name: string;
  /** Decoded once, from `payloadJson`. */
  readonly payload: Payload;
  /** The stored text, byte for byte. */
  readonly payloadJson: string;
  readonly maxAttempts: number;
  /** Taken over from a claim that had expired: whoever held it died, or lost it. A job that was released is not. */
  readonly reclaimed: boolean;
}

export interface QueueDriver {
  /**
   * Stores a job and resolves to its id, or, when `unique` is held by a job still in the jobs table, to that job's id,
   * of which nothing is changed. Everything is validated before the first statement.
   *
   * On a race for a key the loser waits for a holder still in flight: if it commits, its id is the answer; if it rolls
   * back, the loser's job is stored. A plain push is never part of a transaction of the caller's (see `within`).
   */
  push(job: NewJob): Promise<number>;

  /**
   * Claims the first job that is due: queues in the order given; within one, highest priority, then earliest due, then
   * lowest id. Resolves to null when nothing is due. Two callers never hold one job.
   *
   * The claim lasts `timeout` seconds and is what counts the attempt. A claim whose deadline has passed is handed out
   * again, whatever `maxAttempts` says (ending poison jobs is the worker's part). A `timeout` of 0 or less makes a claim
   * that has already expired. A stored payload that is not a JSON object or array is failed at once, the attempt
   * counted, and the search goes on. Lost races and such failures use up `CLAIM_ROUNDS` rounds for each queue.
   */
  reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null>;

  /** The job is done: forgets it and frees its unique key. False: the claim was no longer the caller's; nothing happened. */
  delete(claim: Claim): Promise<boolean>;

  /**
   * Back for another attempt in `delay` seconds, with `error` as its last one (`''`: released on purpose). Clears the
   * claim and changes nothing else: attempts stay as the claim counted them, the unique key stays held.
   * False: the claim was no longer the caller's; nothing happened.
   */
  release(claim: Claim, delay: number, error: string): Promise<boolean>;

  /**
   * Moves the job to the failed store, payload byte for byte, in one transaction: never in both, never in neither. Frees
   * its unique key. False: the claim was no longer the caller's; nothing happened.
   */
  fail(claim: Claim, error: string): Promise<boolean>;

  /** How many jobs could be reserved right now: due, and not held by a live claim. Without a queue: of all queues. */
  pending(queue?: string | null): Promise<number>;
}

/** What a store that can list its backlog answers. */
export interface QueueReports {
  /** Queues that hold anything, ordered by name (as the store sorts text), from one query and one `now`. */
  stats(): Promise<QueueStats[]>;
  /** How many rows the failed table holds. */
  failedCount(): Promise<number>;
  /** The newest failures first (`failedAt` descending, then id descending), at most `limit`. */
  failedRows(limit: number): Promise<FailedJob[]>;
  /**
   * Puts failed jobs back into the queue as new ones: attempts 0, priority 0, due now, no unique key, `maxAttempts` as
   * given; queue, name and payload bytes as they were. Each in a transaction of its own. Resolves to how many; `'all'`
   * means those there when it starts. A row somebody else requeued meanwhile is not counted, and not requeued twice.
   */
  retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number>;
  /** Deletes failed rows: one, those that failed strictly before a moment, or all. Resolves to how many. */
  forgetFailed(which: FailedSelection): Promise<number>;
}

export type FailedSelection = { readonly id: number } | { readonly before: Date } | 'all';

export interface QueueStats {
  readonly queue: string;
  /** Due, and unclaimed or with an expired claim. */
  readonly pending: number;
  /** Not due yet. */
  readonly delayed: number;
  /** Held by a live claim. */
  readonly reserved: number;
  readonly total: number;
}

export interface FailedJob {
  readonly id: number;
  readonly failedAt: Date;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  readonly attempts: number;
  readonly error: string;
}

/** A store that lives in the application's own database: work that commits or rolls back with the application's rows. */
export interface QueueTransactions<in Tx> {
  /**
   * The few things that make sense inside a transaction of the caller's. `tx` is what the application holds (a client, a
   * connection, a `Database`); anything else, a pool above all, is a `QueueError` (`invalid_transaction`).
   * Inside, the driver sends single statements, never BEGIN, COMMIT or a savepoint, retries nothing and swallows nothing.
   * A duplicate key or bad input leaves the transaction usable.
   */
  within(tx: Tx): InTransaction;
}

export interface InTransaction {
  push(job: NewJob): Promise<number>;
  pushMany(jobs: readonly NewJob[]): Promise<number[]>;
  delete(claim: Claim): Promise<boolean>;
  /**
   * For the push guard: whether the transaction is still open, as far as can be told. Never rejects. A driver without it
   * has its transactions taken for open as long as the code that told of them runs.
   */
  isOpen?(): Promise<boolean>;
}

export interface QueueBatches {
  /** All or nothing, ids in the order given. A key held already, or twice in the list, gives its holder's id. Any size. */
  pushMany(jobs: readonly NewJob[]): Promise<number[]>;
  /**
   * As `limit` reserves would, in one go, with one difference: **a job taken over from an expired claim comes alone**.
   * The batch ends before it, or is it. A process that dies is charged an attempt for every job it had in hand, so such
   * a job must not be claimed beside others (docs/decisions/0004). A `timeout` of 0 or less makes up to `limit` claims
   * that have expired already, on different jobs.
   */
  reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]>;
  /** Deletes all whose claims still hold and resolves to the ones lost: the very objects, in the order given. */
  deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]>;
}

export interface QueueLeases {
  /**
   * A live claim of the caller's now ends `timeout` seconds from now; one that has expired but that nobody took over is
   * alive again. False: it was released, finished or taken over; nothing happened.
   */
  extend(claim: Claim, timeout: number): Promise<boolean>;
}

/** Leases, on a store that has batches. */
export interface QueueBatchLeases {
  /** Extends all whose claims still hold and resolves to the ones lost: the very objects, in the order given. */
  extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]>;
}

/** Finishing one batch and claiming the next in one round trip, on a store that has batches. */
export interface QueueTurnover {
  /**
   * As `deleteMany(claims)`, and then `reserveMany(queues, limit, timeout, worker)`. What the call deletes it never hands
   * out, though its claim may have expired. Where it rejects, either part may have taken effect, as with any call whose
   * answer was lost: the jobs are deleted or not, and what was claimed comes back when its claim expires.
   */
  deleteAndReserve<C extends Claim>(
    claims: readonly C[],
    queues: readonly string[],
    limit: number,
    timeout: number,
    worker: string,
  ): Promise<Turnover<C>>;
}

export interface Turnover<C extends Claim> {
  /** The claims that were lost: the very objects, in the order given. */
  readonly lost: C[];
  readonly jobs: ReservedJob[];
}

export interface QueueWakeups {
  /**
   * Calls `wake` soon after something was pushed to one of the queues, by anybody: within a second or so while the store
   * is well. Only a hint over polling: when it is not, a wake may come late, for nothing, or not at all, and correctness
   * never rests on one. Disposing of the answer ends it.
   */
  onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable>;
}

/** For a client that is synchronous by nature. */
export interface QueueSyncPush {
  /** `push` on the application's own connection, before it returns: inside whatever transaction is open there. */
  pushSync(job: NewJob): number;
}

export interface QueueSchema {
  /** The SQL that creates the tables, with this driver's table names. */
  schema(): string;
}

export interface QueueInspection {
  /** The job, or null when it is done or was never pushed. */
  find(id: number): Promise<JobState | null>;
  findFailed(id: number): Promise<FailedJob | null>;
}

/** Everything a store knows of a job that is not finished. */
export interface JobState {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly priority: number;
  readonly unique: string | null;
  readonly availableAt: Date;
  /** The claim's deadline; null: not claimed. In the past: expired, waiting for a worker to take it over. */
  readonly reservedUntil: Date | null;
  readonly reservedBy: string | null;
  readonly lastError: string;
  readonly createdAt: Date;
  /** `pending`: could be reserved now; `expired`: so could this, from a claim that ran out. */
  readonly state: 'pending' | 'delayed' | 'reserved' | 'expired';
  /** How many jobs of its queue would be reserved before it if workers asked now; 0 where it could not be reserved. */
  readonly ahead: number;
}

export interface QueueScratch {
  /** An empty throw-away twin on the same server, for trying out what the server can do. Disposing of it removes it. */
  scratch(options?: ScratchOptions): Promise<Scratch>;
}

export interface ScratchOptions {
  /** The time of day of the twin. Default: that of the driver. */
  readonly now?: () => Date;
  /** Who is told what the twin warns of. Default: as the driver. */
  readonly onWarning?: (warning: QueueWarning) => void;
}

export interface Scratch extends AsyncDisposable {
  readonly driver: QueueDriver;
  /** Another client of the twin, as another process would be one. Disposing of the twin closes it. */
  connect(): Promise<QueueDriver>;
}

/** For `q doctor`: what a server, its settings and its tables are like. */
export interface QueueDiagnosis {
  /**
   * Looks at everything that `push` and `reserve` rest on, and changes nothing. What is wrong is a finding, never a
   * rejection; it rejects where the server cannot be asked at all.
   */
  diagnose(): Promise<Finding[]>;
}

export interface Finding {
  /**
   * `ok`: as it should be. `warning`: the queue works, and it has a price. `error`: something does not work, or jobs may be
   * lost, run early or be taken for others.
   */
  readonly level: 'ok' | 'warning' | 'error';
  /** What was looked at, for programs: `server_version`, `tables`. Stable; there may be several findings of a code. */
  readonly code: string;
  /** A sentence about what was found, without its full stop. No password and no payload is in it. */
  readonly message: string;
  /** What to do about it, in the same form; there is one unless it is `ok`. */
  readonly advice?: string;
  /** An ability that the driver has and that does nothing in this set-up: `wakeups`, where nobody can listen. */
  readonly disables?: Ability;
}

/** What is not an error but should be known: once each, through the option `onWarning` (default `process.emitWarning`). */
export interface QueueWarning {
  readonly code: string;
  readonly message: string;
  /** Where in the application it was caused, if it was there. */
  readonly stack?: string | undefined;
}
