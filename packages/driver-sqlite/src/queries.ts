import type { FailedJob, JobState, QueueStats } from '@q/core';
import type { PreparedStatements } from './prepared.js';
import { type FailedRow, failedJob, type JobRow, jobState, nowStamp } from './rows.js';

export function countPending(statements: PreparedStatements, queue: string | null, now: Date): number {
  const at = nowStamp(now);
  const row =
    queue === null
      ? statements.first<{ readonly pending: number }>('pending', { now: at })
      : statements.first<{ readonly pending: number }>('pendingInQueue', { queue, now: at });
  return row?.pending ?? 0;
}

export function readStats(statements: PreparedStatements, now: Date): QueueStats[] {
  return statements.all<QueueStats>('stats', { now: nowStamp(now) });
}

export function countFailed(statements: PreparedStatements): number {
  return statements.first<{ readonly failed: number }>('failedCount')?.failed ?? 0;
}

export function readFailed(statements: PreparedStatements, limit: number): FailedJob[] {
  return statements.all<FailedRow>('failedRows', { limit }).map(failedJob);
}

export function findJob(statements: PreparedStatements, id: number, now: Date): JobState | null {
  const row = statements.first<JobRow>('findJob', { id, now: nowStamp(now) });
  return row === undefined ? null : jobState(row, now);
}

export function findFailed(statements: PreparedStatements, id: number): FailedJob | null {
  const row = statements.first<FailedRow>('findFailed', { id });
  return row === undefined ? null : failedJob(row);
}
