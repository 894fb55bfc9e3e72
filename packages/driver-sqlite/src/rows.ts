import type { FailedJob, JobState } from '@q/core';
import { parseStamp, secondsAfter, secondsAt, stamp } from '@q/core/driver-kit';

/** The moment as the tables hold it, rounded down: what "now" stores and deadlines are compared with. */
export function nowStamp(now: Date): string {
  return stamp(secondsAt(now));
}

/** The end of a delay or a claim as the tables hold it: never early. */
export function stampAfter(now: Date, seconds: number): string {
  return stamp(secondsAfter(now, seconds));
}

export interface CandidateRow {
  readonly id: number;
  readonly name: string;
  readonly payload: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly reserved_until: string | null;
}

export interface FailedRow {
  readonly id: number;
  readonly failed_at: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: number;
  readonly error: string;
}

export interface JobRow {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly priority: number;
  readonly unique_key: string | null;
  readonly available_at: string;
  readonly reserved_until: string | null;
  readonly reserved_by: string | null;
  readonly last_error: string;
  readonly created_at: string;
  readonly ahead: number;
}

export function failedJob(row: FailedRow): FailedJob {
  return {
    id: row.id,
    failedAt: parseStamp(row.failed_at),
    queue: row.queue,
    name: row.name,
    // String: SQLite keeps a blob that another hand wrote, whatever the column says.
    payloadJson: String(row.payload),
    attempts: row.attempts,
    error: row.error,
  };
}

export function jobState(row: JobRow, now: Date): JobState {
  const state = stateOf(row, nowStamp(now));
  return {
    id: row.id,
    queue: row.queue,
    name: row.name,
    payloadJson: String(row.payload),
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    priority: row.priority,
    unique: row.unique_key,
    availableAt: parseStamp(row.available_at),
    reservedUntil: row.reserved_until === null ? null : parseStamp(row.reserved_until),
    reservedBy: row.reserved_by,
    lastError: row.last_error,
    createdAt: parseStamp(row.created_at),
    state,
    ahead: state === 'pending' || state === 'expired' ? row.ahead : 0,
  };
}

/** The same comparisons as the candidate query's, on the same texts. */
function stateOf(row: JobRow, now: string): JobState['state'] {
  if (row.reserved_until !== null && row.reserved_until > now) return 'reserved';
  if (row.available_at > now) return 'delayed';
  return row.reserved_until === null ? 'pending' : 'expired';
}
