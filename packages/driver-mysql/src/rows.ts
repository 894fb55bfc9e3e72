import type { FailedJob, JobState } from '@q/core';
import { parseStamp, secondsAfter, secondsAt, secondsUpTo, stamp } from '@q/core/driver-kit';

/** The moment as the tables hold it, rounded down: what "now" stores and deadlines are compared with. */
export function nowStamp(now: Date): string {
  return stamp(secondsAt(now));
}

/** The end of a delay or a claim as the tables hold it: never early. */
export function stampAfter(now: Date, seconds: number): string {
  return stamp(secondsAfter(now, seconds));
}

/** A bound with a fraction in the form of what it is compared with. */
export function stampUpTo(moment: Date): string {
  return stamp(secondsUpTo(moment));
}

/** A row that may be claimed. Every column of every row is text. */
export interface CandidateRow {
  readonly id: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: string;
  readonly max_attempts: string;
  /** Not null: a claim that has expired. */
  readonly reserved_until: string | null;
}

/** What goes with a job from one table to the other. */
export interface MovedRow {
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
}

export interface FailedRow {
  readonly id: string;
  readonly failed_at: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: string;
  readonly error: string;
}

export interface JobRow {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: string;
  readonly max_attempts: string;
  readonly priority: string;
  readonly unique_key: string | null;
  readonly available_at: string;
  readonly reserved_until: string | null;
  readonly reserved_by: string | null;
  readonly last_error: string;
  readonly created_at: string;
  readonly ahead: string;
}

export function failedJob(row: FailedRow): FailedJob {
  return {
    id: Number(row.id),
    failedAt: parseStamp(row.failed_at),
    queue: row.queue,
    name: row.name,
    payloadJson: row.payload,
    attempts: Number(row.attempts),
    error: row.error,
  };
}

export function jobState(row: JobRow, now: Date): JobState {
  const state = stateOf(row, nowStamp(now));
  return {
    id: Number(row.id),
    queue: row.queue,
    name: row.name,
    payloadJson: row.payload,
    attempts: Number(row.attempts),
    maxAttempts: Number(row.max_attempts),
    priority: Number(row.priority),
    unique: row.unique_key,
    availableAt: parseStamp(row.available_at),
    reservedUntil: row.reserved_until === null ? null : parseStamp(row.reserved_until),
    reservedBy: row.reserved_by,
    lastError: row.last_error,
    createdAt: parseStamp(row.created_at),
    state,
    ahead: state === 'pending' || state === 'expired' ? Number(row.ahead) : 0,
  };
}

/** The same comparisons as the candidate query's, on the same texts. */
function stateOf(row: JobRow, now: string): JobState['state'] {
  if (row.reserved_until !== null && row.reserved_until > now) return 'reserved';
  if (row.available_at > now) return 'delayed';
  return row.reserved_until === null ? 'pending' : 'expired';
}
