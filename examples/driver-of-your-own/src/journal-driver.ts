import type {
  Claim,
  FailedJob,
  FailedSelection,
  JobState,
  NewJob,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueStats,
  ReservedJob,
} from '@q/core';
import {
  CLAIM_ROUNDS,
  checkClaim,
  checkDelay,
  checkForgetSelection,
  checkInteger,
  checkLimit,
  checkMaxAttempts,
  checkQueues,
  checkRetrySelection,
  checkText,
  checkTimeout,
  checkWorker,
  type DriverOptions,
  encodeJob,
  reservedJob,
  secondsAfter,
  secondsAt,
  secondsUpTo,
  settleOptions,
  trimErrorText,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import type { Journal, Transaction } from './journal.js';
import { dateOf, type FailedRow, failedJob, inOrder, isHeld, isPending, KEYS, type Row, stateOf } from './rows.js';

/** Keeps jobs in a `Journal`, which is the application's to open and to close. */
export class JournalDriver implements QueueDriver, QueueReports, QueueLeases, QueueInspection {
  readonly #journal: Journal;
  readonly #options;

  constructor(journal: Journal, options: DriverOptions = {}) {
    this.#journal = journal;
    this.#options = settleOptions(options, 'JournalDriver');
  }

  async push(job: NewJob): Promise<number> {
    const { delay, ...encoded } = encodeJob(job, this.#options.maxPayloadBytes);
    const moments = { availableAt: this.#after(delay), createdAt: this.#now() };
    return this.#journal.transact((transaction) => {
      const holder = encoded.unique === null ? undefined : transaction.get<number>(KEYS.unique(encoded.unique));
      return holder ?? insert(transaction, { ...encoded, ...moments });
    });
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const names = checkQueues(queues);
    const claim = { reservedUntil: this.#after(checkTimeout(timeout)), reservedBy: checkWorker(worker) };
    const now = this.#now();
    return this.#journal.transact((transaction) => {
      for (const queue of names) {
        const rows = jobsOf(transaction).filter((row) => row.queue === queue && isPending(row, now));
        for (const row of rows.sort(inOrder).slice(0, CLAIM_ROUNDS)) {
          const claimed = { ...row, ...claim, attempts: row.attempts + 1 };
          const { id, name, payloadJson, attempts, maxAttempts } = claimed;
          const reclaimed = row.reservedUntil !== null;
          const job = reservedJob({ id, handle: '', queue, name, payloadJson, attempts, maxAttempts, reclaimed });
          if (job !== null) {
            transaction.set(KEYS.job(id), claimed);
            return job;
          }
          fail(transaction, claimed, UNDECODABLE_PAYLOAD, now);
        }
      }
      return null;
    });
  }

  async delete(claim: Claim): Promise<boolean> {
    return this.#act(claim, remove);
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    const availableAt = this.#after(checkDelay(delay));
    const changes = { availableAt, reservedUntil: null, reservedBy: null, lastError: trimErrorText(error) };
    return this.#act(claim, (transaction, row) => transaction.set(KEYS.job(row.id), { ...row, ...changes }));
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const text = trimErrorText(error);
    const now = this.#now();
    return this.#act(claim, (transaction, row) => fail(transaction, row, text, now));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    const reservedUntil = this.#after(checkTimeout(timeout));
    return this.#act(claim, (transaction, row) => transaction.set(KEYS.job(row.id), { ...row, reservedUntil }));
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : checkText('queue', queue);
    const now = this.#now();
    const rows = this.#journal.transact(jobsOf).filter((row) => isPending(row, now));
    return rows.filter((row) => name === null || row.queue === name).length;
  }

  async stats(): Promise<QueueStats[]> {
    const now = this.#now();
    const rows = this.#journal.transact(jobsOf);
    const queues = [...new Set(rows.map(({ queue }) => queue))].sort();
    return queues.map((queue) => {
      const own = rows.filter((row) => row.queue === queue);
      const count = (is: (row: Row) => boolean) => own.filter(is).length;
      return {
        queue,
        pending: count((row) => isPending(row, now)),
        delayed: count((row) => row.availableAt > now),
        reserved: count((row) => isHeld(row, now)),
        total: own.length,
      };
    });
  }

  async failedCount(): Promise<number> {
    return this.#journal.transact(failuresOf).length;
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    return this.#journal.transact(failuresOf).slice(0, checkLimit(limit)).map(failedJob);
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const selection = checkRetrySelection(which);
    const attempts = checkMaxAttempts(maxAttempts);
    const now = this.#now();
    const ids = this.#journal
      .transact(failuresOf)
      .map(({ id }) => id)
      .filter((id) => selection === 'all' || id === selection.id);
    // A transaction each: what a crash leaves is left to the next call.
    const retried = ids.filter((id) =>
      this.#journal.transact((transaction) => {
        const failure = transaction.get<FailedRow>(KEYS.failure(id));
        if (failure === undefined) return false;
        const { queue, name, payloadJson } = failure;
        transaction.set(KEYS.failure(id), null);
        insert(transaction, {
          queue,
          name,
          payloadJson,
          priority: 0,
          unique: null,
          maxAttempts: attempts,
          availableAt: now,
          createdAt: now,
        });
        return true;
      }),
    );
    return retried.length;
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    const selection = checkForgetSelection(which);
    const isMeant = ({ id, failedAt }: FailedRow): boolean => {
      if (selection === 'all') return true;
      return 'id' in selection ? id === selection.id : failedAt < secondsUpTo(selection.before);
    };
    return this.#journal.transact((transaction) => {
      const meant = failuresOf(transaction).filter(isMeant);
      for (const { id } of meant) transaction.set(KEYS.failure(id), null);
      return meant.length;
    });
  }

  async find(id: number): Promise<JobState | null> {
    const key = KEYS.job(checkInteger('id', id));
    const now = this.#now();
    return this.#journal.transact((transaction) => {
      const row = transaction.get<Row>(key);
      if (row === undefined) return null;
      const isAhead = (other: Row) => other.queue === row.queue && isPending(other, now) && inOrder(other, row) < 0;
      return {
        ...row,
        availableAt: dateOf(row.availableAt),
        reservedUntil: row.reservedUntil === null ? null : dateOf(row.reservedUntil),
        createdAt: dateOf(row.createdAt),
        state: stateOf(row, now),
        ahead: isPending(row, now) ? jobsOf(transaction).filter(isAhead).length : 0,
      };
    });
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    const key = KEYS.failure(checkInteger('id', id));
    const failure = this.#journal.transact((transaction) => transaction.get<FailedRow>(key));
    return failure === undefined ? null : failedJob(failure);
  }

  /** What only the holder of a claim may do. */
  #act(claim: Claim, change: (transaction: Transaction, row: Row) => void): boolean {
    const { id, attempts } = checkClaim(claim);
    return this.#journal.transact((transaction) => {
      const row = transaction.get<Row>(KEYS.job(id));
      if (row === undefined || row.attempts !== attempts || row.reservedUntil === null) return false;
      change(transaction, row);
      return true;
    });
  }

  #now(): number {
    return secondsAt(this.#options.now());
  }

  #after(seconds: number): number {
    return secondsAfter(this.#options.now(), seconds);
  }
}

type NewRow = Omit<Row, 'id' | 'attempts' | 'reservedUntil' | 'reservedBy' | 'lastError'>;

function insert(transaction: Transaction, row: NewRow): number {
  const id = nextId(transaction);
  transaction.set(KEYS.job(id), { ...row, id, attempts: 0, reservedUntil: null, reservedBy: null, lastError: '' });
  if (row.unique !== null) transaction.set(KEYS.unique(row.unique), id);
  return id;
}

function remove(transaction: Transaction, row: Row): void {
  transaction.set(KEYS.job(row.id), null);
  if (row.unique !== null) transaction.set(KEYS.unique(row.unique), null);
}

function fail(transaction: Transaction, row: Row, error: string, failedAt: number): void {
  remove(transaction, row);
  const { queue, name, payloadJson, attempts } = row;
  const id = nextId(transaction);
  transaction.set(KEYS.failure(id), { id, failedAt, queue, name, payloadJson, attempts, error });
}

function nextId(transaction: Transaction): number {
  const id = (transaction.get<number>(KEYS.lastId) ?? 0) + 1;
  transaction.set(KEYS.lastId, id);
  return id;
}

function jobsOf(transaction: Transaction): Row[] {
  return transaction.keys(KEYS.jobs).flatMap((key) => transaction.get<Row>(key) ?? []);
}

/** The newest first. */
function failuresOf(transaction: Transaction): FailedRow[] {
  const rows = transaction.keys(KEYS.failures).flatMap((key) => transaction.get<FailedRow>(key) ?? []);
  return rows.sort((a, b) => b.failedAt - a.failedAt || b.id - a.id);
}
