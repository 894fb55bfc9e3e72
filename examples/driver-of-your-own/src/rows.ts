import type { FailedJob, JobState } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';

/** A job as it is in the journal; moments in whole seconds. */
export interface Row extends Omit<EncodedJob, 'delay'> {
  readonly id: number;
  readonly attempts: number;
  readonly availableAt: number;
  /** The claim's deadline. */
  readonly reservedUntil: number | null;
  readonly reservedBy: string | null;
  readonly lastError: string;
  readonly createdAt: number;
}

export interface FailedRow extends Omit<FailedJob, 'failedAt'> {
  readonly failedAt: number;
}

/** Every key of the journal is made here. */
export const KEYS = {
  /** The id that was given out last, to a job or to a failure. Ids are never given twice: a claim is named by one. */
  lastId: 'last-id',
  jobs: 'job/',
  job: (id: number) => `job/${id}`,
  /** Holds the id of the job that has the unique key. */
  unique: (key: string) => `unique/${key}`,
  failures: 'failed/',
  failure: (id: number) => `failed/${id}`,
};

export function isHeld({ reservedUntil }: Row, now: number): boolean {
  return reservedUntil !== null && reservedUntil > now;
}

/** Whether it could be reserved now. */
export function isPending(row: Row, now: number): boolean {
  return row.availableAt <= now && !isHeld(row, now);
}

/** The order of a queue. */
export function inOrder(a: Row, b: Row): number {
  return b.priority - a.priority || a.availableAt - b.availableAt || a.id - b.id;
}

export function stateOf(row: Row, now: number): JobState['state'] {
  if (isHeld(row, now)) return 'reserved';
  if (row.availableAt > now) return 'delayed';
  return row.reservedUntil === null ? 'pending' : 'expired';
}

export function failedJob({ failedAt, ...row }: FailedRow): FailedJob {
  return { ...row, failedAt: dateOf(failedAt) };
}

export function dateOf(seconds: number): Date {
  return new Date(seconds * 1000);
}
