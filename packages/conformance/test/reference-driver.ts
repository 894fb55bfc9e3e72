import {
  type Claim,
  type FailedJob,
  type FailedSelection,
  type InTransaction,
  type JobState,
  type NewJob,
  type QueueBatches,
  type QueueBatchLeases,
  type QueueDriver,
  QueueError,
  type QueueInspection,
  type QueueLeases,
  type QueueReports,
  type QueueSchema,
  type QueueScratch,
  type QueueStats,
  type QueueSyncPush,
  type QueueTransactions,
  type QueueWakeups,
  type ReservedJob,
  type Scratch,
} from '@q/core';
import {
  checkDelay,
  checkForgetSelection,
  checkLimit,
  checkMaxAttempts,
  checkQueues,
  checkRetrySelection,
  checkText,
  checkTimeout,
  type EncodedJob,
  encodeJobs,
  kindOf,
} from '@q/core/driver-kit';
import { ReferenceMechanics } from './reference-mechanics.js';
import { type FailedRow, type Listener, MemoryStore, MemoryTransaction } from './reference-store.js';

type Contract = QueueDriver &
  QueueReports &
  QueueTransactions<MemoryTransaction> &
  QueueBatches &
  QueueLeases &
  QueueBatchLeases &
  QueueWakeups &
  QueueSyncPush &
  QueueSchema &
  QueueInspection &
  QueueScratch;

const SCHEMA = `-- Two tables: a finished job is deleted, a failed one waits here for a human.
CREATE TABLE queue_jobs (…);
CREATE TABLE queue_failed_jobs (…);
-- Nothing prunes the failed jobs. Delete the old ones with:
-- q forget --before=YYYY-MM-DD
`;

/**
 * The whole contract in memory, as short as it can be: each method in the words of the rules (reference-rules.ts) and of
 * how they are applied (reference-mechanics.ts), so that a mutant can break one of them and nothing else.
 */
export class ReferenceDriver extends ReferenceMechanics implements Contract {
  async push(job: NewJob): Promise<number> {
    const encoded = this.encode(job);
    await this.roundTrip();
    return this.insert(encoded, null);
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const [job = null] = await this.claimSome(queues, 1, timeout, worker);
    return job;
  }

  async delete(claim: Claim): Promise<boolean> {
    return this.act(claim, (row) => this.store.jobs.delete(row.id));
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    const seconds = checkDelay(delay);
    const text = this.trimError(error);
    return this.act(claim, (row) => this.released(row, seconds, text));
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const text = this.trimError(error);
    return this.act(claim, (row) => this.moveToFailed(row, text));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    const seconds = checkTimeout(timeout);
    return this.act(claim, (row) => {
      row.reservedUntil = this.after(seconds);
    });
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : checkText('queue', queue);
    await this.roundTrip();
    return [...this.store.jobs.values()].filter(
      (row) => (name === null || this.sameQueue(row.queue, name)) && this.isPending(row),
    ).length;
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = this.encodeMany(jobs);
    await this.roundTrip();
    const transaction = this.store.begin();
    const ids: number[] = [];
    for (const job of encoded) ids.push(await this.insert(job, transaction));
    transaction.commit();
    return ids;
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    return this.claimSome(queues, checkLimit(limit), timeout, worker);
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return this.lostOf(claims, (claim) => this.delete(claim));
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    return this.lostOf(claims, (claim) => this.extend(claim, timeout));
  }

  within(tx: MemoryTransaction): InTransaction {
    if (!(tx instanceof MemoryTransaction) || !this.store.open.has(tx)) {
      throw new QueueError('invalid_transaction', `A transaction that is open is wanted; got ${kindOf(tx)}`);
    }
    return {
      push: async (job) => this.insert(this.encode(job), tx),
      pushMany: async (jobs) => {
        const ids: number[] = [];
        for (const job of this.encodeMany(jobs)) ids.push(await this.insert(job, tx));
        return ids;
      },
      delete: (claim) => this.act(claim, (row) => tx.deleted.add(row.id)),
    };
  }

  pushSync(job: NewJob): number {
    const id = this.insertNow(this.encode(job), [...this.store.open].at(-1) ?? null);
    if (typeof id === 'number') return id;
    throw new QueueError('store_busy', 'The unique key is held in a transaction that is still open');
  }

  async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const listener: Listener = { queues: checkQueues(queues), wake };
    this.store.listeners.add(listener);
    return { [Symbol.asyncDispose]: async () => void this.store.listeners.delete(listener) };
  }

  async stats(): Promise<QueueStats[]> {
    const rows = [...this.store.jobs.values()];
    const queues = [...new Set(rows.map(({ queue }) => queue))].sort();
    return queues.map((queue) =>
      this.statsOf(
        queue,
        rows.filter((row) => row.queue === queue),
      ),
    );
  }

  async failedCount(): Promise<number> {
    return this.store.failed.size;
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    const rows = [...this.store.failed.values()].sort((a, b) => b.failedAt - a.failedAt || b.id - a.id);
    return rows.slice(0, checkLimit(limit)).map((row) => this.failedJob(row));
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const selection = checkRetrySelection(which);
    const attempts = checkMaxAttempts(maxAttempts);
    const ids = selection === 'all' ? [...this.store.failed.keys()] : [selection.id];
    let count = 0;
    for (const id of ids) {
      await this.roundTrip();
      const failed = this.store.failed.get(id);
      if (failed === undefined || !this.store.failed.delete(id)) continue;
      this.store.add(this.requeued(failed, attempts));
      count += 1;
    }
    return count;
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    const selection = checkForgetSelection(which);
    const rows = [...this.store.failed.values()].filter((row) => this.isSelected(row, selection));
    for (const { id } of rows) this.store.failed.delete(id);
    return rows.length;
  }

  async find(id: number): Promise<JobState | null> {
    const row = this.store.jobs.get(this.checkId(id));
    if (row === undefined) return null;
    const { availableAt, reservedUntil, createdAt, ...rest } = row;
    return {
      ...rest,
      availableAt: new Date(availableAt * 1000),
      reservedUntil: reservedUntil === null ? null : new Date(reservedUntil * 1000),
      createdAt: new Date(createdAt * 1000),
      state: this.stateOf(row),
      ahead: this.ahead(row),
    };
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    const row = this.store.failed.get(this.checkId(id));
    return row === undefined ? null : this.failedJob(row);
  }

  schema(): string {
    return SCHEMA;
  }

  async scratch(options: { readonly now?: () => Date } = {}): Promise<Scratch> {
    const driver = new ReferenceDriver(new MemoryStore(), options.now ?? (() => new Date()));
    return { driver, [Symbol.asyncDispose]: async () => {} };
  }

  protected encodeMany(jobs: readonly NewJob[]): EncodedJob[] {
    return encodeJobs(jobs);
  }

  protected isSelected(row: FailedRow, which: FailedSelection): boolean {
    if (which === 'all') return true;
    return 'id' in which ? row.id === which.id : row.failedAt * 1000 < which.before.getTime();
  }
}
