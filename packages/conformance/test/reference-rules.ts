import type { Claim, FailedJob, FailedSelection, JobState, QueueStats, ReservedJob } from '@q/core';
import { type EncodedJob, reservedJob, secondsAfter, secondsAt } from '@q/core/driver-kit';
import type { FailedRow, MemoryStore, Row } from './reference-store.js';

/**
 * The rules of the contract, one small method each: what a row becomes, when it is due, who holds it. The driver
 * (reference-driver.ts) says in which order they are applied; a mutant breaks one of them.
 */
export class ReferenceRules {
  constructor(
    protected readonly store: MemoryStore,
    protected readonly now: () => Date,
  ) {}

  /** Now, rounded down: what every time is compared with. */
  protected seconds(): number {
    return secondsAt(this.now());
  }

  /** The end of a delay or a claim: rounded up, so that it is never early; zero or less is now, rounded down. */
  protected after(seconds: number): number {
    return secondsAfter(this.now(), seconds);
  }

  protected isDue(row: Row): boolean {
    return row.availableAt <= this.seconds();
  }

  /** A deadline equal to now has passed. */
  protected isHeld(row: Row): boolean {
    return row.reservedUntil !== null && row.reservedUntil > this.seconds();
  }

  protected isPending(row: Row): boolean {
    return !this.isHeld(row) && this.isDue(row);
  }

  /** Below zero where `a` goes before `b`. */
  protected order(a: Row, b: Row): number {
    return b.priority - a.priority || a.availableAt - b.availableAt || a.id - b.id;
  }

  protected sameQueue(a: string, b: string): boolean {
    return a === b;
  }

  protected sameKey(a: string, b: string): boolean {
    return a === b;
  }

  /** Whether a claim still is the one on the row: the attempt tells claims apart, a released row has none. */
  protected isClaimOf(claim: Claim, row: Row): boolean {
    return row.attempts === claim.attempts && row.reservedUntil !== null;
  }

  protected newRow(job: EncodedJob): Row {
    return {
      id: this.store.nextJobId(),
      queue: job.queue,
      name: job.name,
      payloadJson: job.payloadJson,
      attempts: 0,
      maxAttempts: job.maxAttempts,
      priority: job.priority,
      unique: job.unique,
      availableAt: this.after(job.delay),
      reservedUntil: null,
      reservedBy: null,
      lastError: '',
      createdAt: this.seconds(),
    };
  }

  protected claim(row: Row, timeout: number, worker: string): void {
    row.attempts += 1;
    row.reservedUntil = this.after(timeout);
    row.reservedBy = worker;
  }

  /** A claimed row as its holder sees it, or null where its payload does not decode. */
  protected inHand(row: Row, reclaimed: boolean): ReservedJob | null {
    const { id, queue, name, payloadJson, attempts, maxAttempts } = row;
    return reservedJob({ id, handle: '', queue, name, payloadJson, attempts, maxAttempts, reclaimed });
  }

  protected released(row: Row, delay: number, error: string): void {
    row.reservedUntil = null;
    row.reservedBy = null;
    row.availableAt = this.after(delay);
    row.lastError = error;
  }

  protected moveToFailed(row: Row, error: string): void {
    const { queue, name, payloadJson, attempts } = row;
    const id = this.store.nextFailedId();
    this.store.failed.set(id, { id, queue, name, payloadJson, attempts, error, failedAt: this.seconds() });
    this.store.jobs.delete(row.id);
  }

  protected requeued(failed: FailedRow, maxAttempts: number): Row {
    const { queue, name, payloadJson } = failed;
    const job = { queue, name, payloadJson, maxAttempts, delay: 0, priority: 0 };
    return this.newRow({ ...job, unique: null });
  }

  protected statsOf(queue: string, rows: readonly Row[]): QueueStats {
    const count = (counts: (row: Row) => boolean): number => rows.filter(counts).length;
    return {
      queue,
      pending: count((row) => this.isPending(row)),
      delayed: count((row) => !this.isDue(row)),
      reserved: count((row) => this.isHeld(row)),
      total: rows.length,
    };
  }

  protected stateOf(row: Row): JobState['state'] {
    if (this.isHeld(row)) return 'reserved';
    if (!this.isDue(row)) return 'delayed';
    return row.reservedUntil === null ? 'pending' : 'expired';
  }

  protected ahead(row: Row): number {
    if (!this.isPending(row)) return 0;
    return this.candidates(row.queue).filter((other) => this.order(other, row) < 0).length;
  }

  /** What could be reserved from a queue, a job that somebody is deleting in an open transaction aside. */
  protected candidates(queue: string): Row[] {
    const rows: Row[] = [];
    for (const row of this.store.jobs.values()) {
      if (!this.sameQueue(row.queue, queue) || !this.isPending(row)) continue;
      if (this.isAddressable(row) && this.store.lockerOf(row.id) === undefined) rows.push(row);
    }
    return rows;
  }

  /** A row whose id a number cannot hold is left alone. */
  protected isAddressable(row: Row): boolean {
    return Number.isSafeInteger(row.id);
  }

  protected failedJob({ failedAt, ...row }: FailedRow): FailedJob {
    return { ...row, failedAt: new Date(failedAt * 1000) };
  }

  protected isSelected(row: FailedRow, which: FailedSelection): boolean {
    if (which === 'all') return true;
    return 'id' in which ? row.id === which.id : row.failedAt * 1000 < which.before.getTime();
  }
}
