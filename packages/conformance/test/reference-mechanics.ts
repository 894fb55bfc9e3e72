import { setImmediate } from 'node:timers/promises';
import type { Claim, ReservedJob } from '@q/core';
import {
  CLAIM_ROUNDS,
  checkClaim,
  checkClaims,
  checkQueues,
  checkTimeout,
  checkWorker,
  type EncodedJob,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
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
    const holder = this.holderOf(job.unique, [...this.store.jobs.values(), ...(transaction?.inserted ?? [])]);
    if (holder !== undefined) return this.store.lockerOf(holder.id) ?? holder.id;
    for (const rival of this.store.open) {
      if (rival !== transaction && this.holderOf(job.unique, rival.inserted) !== undefined) return rival;
    }
    const row = this.newRow(job);
    if (transaction === null) this.store.add(row);
    else transaction.inserted.push(row);
    return row.id;
  }

  protected holderOf(key: string | null, rows: readonly Row[]): Row | undefined {
    if (key === null) return undefined;
    return rows.find((row) => row.unique !== null && this.sameKey(row.unique, key));
  }

  /** Up to `limit` jobs, queue by queue; a job taken over from an expired claim ends the batch, or is it. */
  protected async claimSome(
    queues: readonly string[],
    limit: number,
    timeout: number,
    worker: string,
  ): Promise<ReservedJob[]> {
    const names = checkQueues(queues);
    const seconds = checkTimeout(timeout);
    const id = checkWorker(worker);
    const jobs: ReservedJob[] = [];
    for (const queue of names) {
      for (let round = 0; round < CLAIM_ROUNDS && jobs.length < limit; round += 1) {
        const seen = this.candidate(queue);
        if (seen === undefined) break;
        if (this.comesAlone(seen) && jobs.length > 0) return jobs;
        await this.roundTrip();
        const job = this.claimSeen(seen, seconds, id);
        if (job === null) continue;
        jobs.push(job);
        if (job.reclaimed && this.comesAlone(seen)) return jobs;
        round = -1; // a round that yields a job costs nothing
      }
    }
    return jobs;
  }

  protected comesAlone(seen: Row): boolean {
    return seen.reservedUntil !== null;
  }

  /** The first row of a queue as it is now: a copy, as a query's answer is one. */
  protected candidate(queue: string): Row | undefined {
    const [first, ...rest] = this.candidates(queue);
    if (first === undefined) return undefined;
    return { ...rest.reduce((best, row) => (this.order(row, best) < 0 ? row : best), first) };
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
    const fence = this.checkClaim(claim);
    await this.roundTrip();
    for (;;) {
      const row = this.store.jobs.get(fence.id);
      if (row === undefined || !this.isClaimOf(fence, row)) return false;
      const locker = this.store.lockerOf(row.id);
      if (locker === undefined) {
        change(row);
        return true;
      }
      await locker.ended;
    }
  }

  protected checkClaim(claim: Claim): Claim {
    return checkClaim(claim);
  }

  protected async lostOf<C extends Claim>(claims: readonly C[], act: (claim: C) => Promise<boolean>): Promise<C[]> {
    const lost: C[] = [];
    for (const claim of checkClaims(claims)) if (!(await act(claim))) lost.push(claim);
    return lost;
  }
}
