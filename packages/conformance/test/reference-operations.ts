import type { Claim, FailedJob, FailedSelection, JobState, QueueStats, ReservedJob, Turnover } from '@q/core';
import type { ClaimRequest, EncodedJob } from '@q/core/driver-kit';
import { ReferenceMechanics } from './reference-mechanics.js';
import type { MemoryTransaction, Row } from './reference-store.js';

/** What each method does once its arguments are checked; one method of this for each of the driver's. */
export class ReferenceOperations extends ReferenceMechanics {
  protected async pushOne(job: EncodedJob): Promise<number> {
    await this.roundTrip();
    return this.insert(job, null);
  }

  protected async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
    await this.roundTrip();
    const transaction = this.store.begin();
    const ids: number[] = [];
    for (const job of jobs) ids.push(await this.insert(job, transaction));
    transaction.commit();
    return ids;
  }

  protected async pushWithin(tx: MemoryTransaction, job: EncodedJob): Promise<number> {
    return this.insert(job, tx);
  }

  protected async pushAllWithin(tx: MemoryTransaction, jobs: readonly EncodedJob[]): Promise<number[]> {
    const ids: number[] = [];
    for (const job of jobs) ids.push(await this.insert(job, tx));
    return ids;
  }

  /** The id, or the transaction whose end a push would have to wait for. */
  protected pushNow(job: EncodedJob): number | MemoryTransaction {
    return this.insertNow(job, [...this.store.open].at(-1) ?? null);
  }

  protected async take(request: ClaimRequest): Promise<ReservedJob | null> {
    const [job = null] = await this.claimSome(request);
    return job;
  }

  protected async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
    return this.claimSome(request);
  }

  protected async deleteOne(claim: Claim): Promise<boolean> {
    return this.act(claim, (row) => this.store.jobs.delete(row.id));
  }

  protected async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return this.actOnAll(claims, (row) => this.store.jobs.delete(row.id));
  }

  protected async deleteWithin(tx: MemoryTransaction, claim: Claim): Promise<boolean> {
    return this.act(claim, (row) => tx.deleted.add(row.id));
  }

  protected async releaseOne(claim: Claim, delay: number, error: string): Promise<boolean> {
    return this.act(claim, (row) => this.released(row, delay, error));
  }

  protected async failOne(claim: Claim, error: string): Promise<boolean> {
    return this.act(claim, (row) => this.moveToFailed(row, error));
  }

  protected async extendOne(claim: Claim, timeout: number): Promise<boolean> {
    return this.act(claim, (row) => this.extended(row, timeout));
  }

  protected async extendAll<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    return this.actOnAll(claims, (row) => this.extended(row, timeout));
  }

  protected async turnOver<C extends Claim>(claims: readonly C[], request: ClaimRequest): Promise<Turnover<C>> {
    const lost = await this.actOnAll(claims, (row) => this.store.jobs.delete(row.id));
    return { lost, jobs: await this.claimSome(request) };
  }

  protected async count(queue: string | null): Promise<number> {
    await this.roundTrip();
    return [...this.store.jobs.values()].filter(
      (row) => (queue === null || this.sameQueue(row.queue, queue)) && this.isPending(row),
    ).length;
  }

  protected async allStats(): Promise<QueueStats[]> {
    const rows = [...this.store.jobs.values()];
    const queues = [...new Set(rows.map(({ queue }) => queue))].sort();
    return queues.map((queue) =>
      this.statsOf(
        queue,
        rows.filter((row) => row.queue === queue),
      ),
    );
  }

  protected async newest(limit: number): Promise<FailedJob[]> {
    const rows = [...this.store.failed.values()].sort((a, b) => b.failedAt - a.failedAt || b.id - a.id);
    return rows.slice(0, limit).map((row) => this.failedJob(row));
  }

  protected async retry(which: { readonly id: number } | 'all', maxAttempts: number): Promise<number> {
    const ids = which === 'all' ? [...this.store.failed.keys()] : [which.id];
    let count = 0;
    for (const id of ids) {
      await this.roundTrip();
      const failed = this.store.failed.get(id);
      if (failed === undefined || !this.store.failed.delete(id)) continue;
      this.store.add(this.requeued(failed, maxAttempts));
      count += 1;
    }
    return count;
  }

  protected async forget(which: FailedSelection): Promise<number> {
    const rows = [...this.store.failed.values()].filter((row) => this.isSelected(row, which));
    for (const { id } of rows) this.store.failed.delete(id);
    return rows.length;
  }

  protected async look(id: number): Promise<JobState | null> {
    const row = this.store.jobs.get(id);
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

  protected async lookAtFailed(id: number): Promise<FailedJob | null> {
    const row = this.store.failed.get(id);
    return row === undefined ? null : this.failedJob(row);
  }

  protected extended(row: Row, timeout: number): void {
    row.reservedUntil = this.after(timeout);
  }
}
