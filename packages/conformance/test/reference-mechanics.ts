import { setImmediate } from 'node:timers/promises';
import type { Claim, ReservedJob } from '@q/core';
import { CLAIM_ROUNDS, type ClaimRequest, type EncodedJob, UNDECODABLE_PAYLOAD } from '@q/core/driver-kit';
import { ReferenceRules } from './reference-rules.js';
import type { MemoryTransaction, Row } from './reference-store.js';

/**
 * How the rules are applied when others are at work too: between finding a row and changing it there is a round trip, so
 * whatever may happen in between does, and a guard is what makes it right.
 */
export class ReferenceMechanics extends ReferenceRules {
  /** What a network would take. */
  protected async roundTrip(): Promise<void> {
    await setImmediate();
  }

  /** Stores a job, or finds the one that holds its key, waiting for a holder in a transaction that is still open. */
  protected async insert(job: EncodedJob, transaction: MemoryTransaction | null): Promise<number> {
    for (;;) {
      const answer = this.insertNow(job, transaction);
      if (typeof answer === 'number') return answer;
      await answer.ended;
    }
  }

  /** The id, or the transaction that has to end first. */
  protected insertNow(job: EncodedJob, transaction: MemoryTransaction | null): number | MemoryTransaction {
    const holder =
      this.holderOf(job.unique, this.store.jobs.values()) ?? this.holderOf(job.unique, transaction?.inserted ?? []);
    if (holder !== undefined) return this.store.lockerOf(holder.id) ?? holder.id;
    for (const rival of this.store.open) {
      if (rival !== transaction && this.holderOf(job.unique, rival.inserted) !== undefined) return rival;
    }
    const row = this.newRow(job);
    if (transaction === null) this.store.add(row);
    else transaction.inserted.push(row);
    return row.id;
  }

  protected holderOf(key: string | null, rows: Iterable<Row>): Row | undefined {
    if (key === null) return undefined;
    for (const row of rows) if (row.unique !== null && this.sameKey(row.unique, key)) return row;
    return undefined;
  }

  /** Up to `limit` jobs, queue by queue; a job taken over from an expired claim ends the batch, or is it. */
  protected async claimSome({ queues, limit, timeout, worker }: ClaimRequest): Promise<ReservedJob[]> {
    const jobs: ReservedJob[] = [];
    for (const queue of queues) {
      for (let round = 0; round < CLAIM_ROUNDS && jobs.length < limit; round += 1) {
        const seen = this.candidate(queue);
        if (seen === undefined) break;
        if (!this.mayFollow(seen, jobs)) return jobs;
        await this.roundTrip();
        const job = this.claimSeen(seen, timeout, worker);
        if (job === null) continue;
        jobs.push(job);
        if (!this.mayBeFollowed(job)) return jobs;
        round = -1; // a round that yields a job costs nothing
      }
    }
    return jobs;
  }

  protected mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
    return seen.reservedUntil === null || jobs.length === 0;
  }

  protected mayBeFollowed(job: ReservedJob): boolean {
    return !job.reclaimed;
  }

  /** The first row of a queue as it is now: a copy, as a query's answer is one. */
  protected candidate(queue: string): Row | undefined {
    let best: Row | undefined;
    for (const row of this.candidates(queue)) if (best === undefined || this.order(row, best) < 0) best = row;
    return best === undefined ? undefined : { ...best };
  }

  /** Claims a row that was seen a round trip ago, if nothing happened to it meanwhile. */
  protected claimSeen(seen: Row, timeout: number, worker: string): ReservedJob | null {
    const row = this.store.jobs.get(seen.id);
    if (row === undefined || !this.isStillFree(row, seen)) return null;
    const reclaimed = this.isReclaimed(row);
    this.claim(row, timeout, worker);
    const job = this.inHand(row, reclaimed);
    if (job === null) this.moveToFailed(row, UNDECODABLE_PAYLOAD);
    return job;
  }

  protected isReclaimed(row: Row): boolean {
    return row.reservedUntil !== null;
  }

  /** The guard: the row is free, and it is the very row that was seen. */
  protected isStillFree(row: Row, seen: Row): boolean {
    return row.attempts === seen.attempts && this.isPending(row) && this.store.lockerOf(row.id) === undefined;
  }

  /** Changes the row of a claim that still holds. */
  protected async act(claim: Claim, change: (row: Row) => void): Promise<boolean> {
    await this.roundTrip();
    for (;;) {
      const row = this.store.jobs.get(claim.id);
      if (row === undefined || !this.isClaimOf(claim, row)) return false;
      const locker = this.store.lockerOf(row.id);
      if (locker === undefined) {
        change(row);
        return true;
      }
      await locker.ended;
    }
  }

  /** The same for each of a batch: the very claims that were lost. */
  protected async actOnAll<C extends Claim>(claims: readonly C[], change: (row: Row) => void): Promise<C[]> {
    const lost: C[] = [];
    for (const claim of claims) if (!(await this.act(claim, change))) lost.push(claim);
    return lost;
  }
}
