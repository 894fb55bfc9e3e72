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
  type QueueSyncPush,
  type QueueTransactions,
  type QueueTurnover,
  type QueueWakeups,
  type ReservedJob,
  type Scratch,
  type ScratchOptions,
  type Turnover,
} from '@q/core';
import * as kit from '@q/core/driver-kit';
import { ReferenceOperations } from './reference-operations.js';
import { type Listener, MemoryStore, MemoryTransaction } from './reference-store.js';

type Contract = QueueDriver &
  QueueReports &
  QueueTransactions<MemoryTransaction> &
  QueueBatches &
  QueueLeases &
  QueueBatchLeases &
  QueueTurnover &
  QueueWakeups &
  QueueSyncPush &
  QueueSchema &
  QueueInspection &
  QueueScratch &
  QueueDiagnosis;

const SCHEMA = `-- Two tables: a finished job is deleted, a failed one waits here for a human.
CREATE TABLE queue_jobs (…);
CREATE TABLE queue_failed_jobs (…);
-- Nothing prunes the failed jobs. Delete the old ones with:
-- q forget --before=YYYY-MM-DD
`;

/**
 * The whole contract in memory, as short as it can be. Here every argument is checked, and nothing else is done: what is done
 * is in reference-operations.ts, how it holds against others in reference-mechanics.ts, and the rules by which in
 * reference-rules.ts. So a mutant can break one thing, and nothing else.
 */
export class ReferenceDriver extends ReferenceOperations implements Contract {
  async push(job: NewJob): Promise<number> {
    return this.pushOne(this.encode(job));
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    return this.take(kit.claimRequest(queues, 1, timeout, worker));
  }

  async delete(claim: Claim): Promise<boolean> {
    return this.deleteOne(kit.checkClaim(claim));
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    return this.releaseOne(kit.checkClaim(claim), kit.checkDelay(delay), this.trimError(error));
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    return this.failOne(kit.checkClaim(claim), this.trimError(error));
  }

  async pending(queue?: string | null): Promise<number> {
    return this.count(queue === null || queue === undefined ? null : kit.checkText('queue', queue));
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    return this.pushAll(kit.encodeJobs(jobs));
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    return this.takeAll(kit.claimRequest(queues, limit, timeout, worker));
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return this.deleteAll(kit.checkClaims(claims));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    return this.extendOne(kit.checkClaim(claim), kit.checkTimeout(timeout));
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    return this.extendAll(kit.checkClaims(claims), kit.checkTimeout(timeout));
  }

  async deleteAndReserve<C extends Claim>(
    claims: readonly C[],
    queues: readonly string[],
    limit: number,
    timeout: number,
    worker: string,
  ): Promise<Turnover<C>> {
    return this.turnOver(kit.checkClaims(claims), kit.claimRequest(queues, limit, timeout, worker));
  }

  within(tx: MemoryTransaction): InTransaction {
    this.checkTransaction(tx);
    return {
      push: async (job) => this.pushWithin(tx, kit.encodeJob(job)),
      pushMany: async (jobs) => this.pushAllWithin(tx, kit.encodeJobs(jobs)),
      delete: async (claim) => this.deleteWithin(tx, kit.checkClaim(claim)),
    };
  }

  pushSync(job: NewJob): number {
    const id = this.pushNow(kit.encodeJob(job));
    if (typeof id === 'number') return id;
    throw new QueueError('store_busy', 'The unique key is held in a transaction that is still open');
  }

  async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    return this.listen({ queues: kit.checkQueues(queues), wake });
  }

  async stats(): Promise<QueueStats[]> {
    return this.allStats();
  }

  async failedCount(): Promise<number> {
    return this.store.failed.size;
  }

  async failedRows(limit: number): Promise<FailedJob[]> {
    return this.newest(kit.checkLimit(limit));
  }

  async retryFailed(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    return this.retry(kit.checkRetrySelection(which), kit.checkMaxAttempts(maxAttempts));
  }

  async forgetFailed(which: FailedSelection): Promise<number> {
    return this.forget(kit.checkForgetSelection(which));
  }

  async find(id: number): Promise<JobState | null> {
    return this.look(kit.checkInteger('An id', id));
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    return this.lookAtFailed(kit.checkInteger('An id', id));
  }

  schema(): string {
    return SCHEMA;
  }

  async scratch({ now = this.now }: ScratchOptions = {}): Promise<Scratch> {
    const store = new MemoryStore();
    const connect = async () => new ReferenceDriver(store, now);
    return { driver: await connect(), connect, [Symbol.asyncDispose]: async () => {} };
  }

  async diagnose(): Promise<Finding[]> {
    const message = 'What is in memory is gone when the process ends';
    return [{ level: 'warning', code: 'durability', message, advice: 'Keep jobs that matter in a database' }];
  }

  /** What a plain push makes of a job; the other ways to push do it by themselves. */
  protected encode(job: NewJob): kit.EncodedJob {
    return kit.encodeJob(job);
  }

  protected trimError(error: string): string {
    return kit.trimErrorText(error);
  }

  protected checkTransaction(tx: MemoryTransaction): void {
    if (tx instanceof MemoryTransaction && this.store.open.has(tx)) return;
    throw new QueueError('invalid_transaction', `A transaction that is open is wanted; got ${kit.kindOf(tx)}`);
  }

  protected listen(listener: Listener): AsyncDisposable {
    this.store.listeners.add(listener);
    return { [Symbol.asyncDispose]: async () => void this.store.listeners.delete(listener) };
  }
}
