import type { FailedJob, JobState, QueueStats } from '@q/core';
import { type FailedRow, failedJob, type JobRow, jobState, nowStamp } from './rows.js';
import type { Session } from './session.js';

export async function countPending(session: Session, queue: string | null, now: Date): Promise<number> {
  const at = nowStamp(now);
  const row =
    queue === null
      ? await session.first<{ readonly pending: string }>('pending', { now: at })
      : await session.first<{ readonly pending: string }>('pendingInQueue', { queue, now: at });
  return Number(row?.pending ?? 0);
}

export async function readStats(session: Session, now: Date): Promise<QueueStats[]> {
  const rows = await session.all<{ readonly [K in keyof QueueStats]: string }>('stats', { now: nowStamp(now) });
  return rows.map(({ queue, pending, delayed, reserved, total }) => ({
    queue,
    pending: Number(pending),
    delayed: Number(delayed),
    reserved: Number(reserved),
    total: Number(total),
  }));
}

export async function countFailed(session: Session): Promise<number> {
  return Number((await session.first<{ readonly failed: string }>('failedCount'))?.failed ?? 0);
}

export async function readFailed(session: Session, limit: number): Promise<FailedJob[]> {
  return (await session.all<FailedRow>('failedRows', { limit })).map(failedJob);
}

export async function findJob(session: Session, id: number, now: Date): Promise<JobState | null> {
  const row = await session.first<JobRow>('findJob', { id, now: nowStamp(now) });
  return row === undefined ? null : jobState(row, now);
}

export async function findFailed(session: Session, id: number): Promise<FailedJob | null> {
  const row = await session.first<FailedRow>('findFailed', { id });
  return row === undefined ? null : failedJob(row);
}
