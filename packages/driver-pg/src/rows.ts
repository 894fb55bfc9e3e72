import type { FailedJob, JobState } from '@q/core';
import { parseStamp, secondsAfter, secondsAt, secondsUpTo, stamp } from '@q/core/driver-kit';

/** The moment as the tables hold it, rounded down: what "now" stores and deadlines are compared with. */
export function nowStamp(now: Date): string {
  return zoned(secondsAt(now));
}

/** The end of a delay or a claim as the tables hold it: never early. */
export function stampAfter(now: Date, seconds: number): string {
  return zoned(secondsAfter(now, seconds));
}

/** A bound with a fraction in the form of what it is compared with. */
export function stampUpTo(moment: Date): string {
  return zoned(secondsUpTo(moment));
}

/** With its offset said, so that the zone of the session does not matter. */
function zoned(seconds: number): string {
  return `${stamp(seconds)}+00:00`;
}

/** What a claim gives of a row. Every column of every row is text. */
export interface ClaimedRow {
  readonly id: string;
  readonly queue: string;
  readonly name: string;
  readonly payload: string;
  /** This claim included. */
  readonly attempts: string;
  readonly max_attempts: string;
  readonly priority: string;
  /** Null: infinitely long ago, which another hand may write. */
  readonly available_at: string | null;
  readonly reclaimed: string;
}

/** A claim that could not be deleted, among the rows that the same statement claims. */
export interface LostRow extends ActedRow {
  readonly queue: null;
}

/** A claim on which something was done. */
export interface ActedRow {
  readonly id: string;
  readonly attempts: string;
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
  readonly state: JobState['state'];
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

export function jobState(row: JobRow): JobState {
  const { state } = row;
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
