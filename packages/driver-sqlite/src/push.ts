import { QueueError } from '@q/core';
import { CLAIM_ROUNDS, type EncodedJob } from '@q/core/driver-kit';
import type { PreparedStatements } from './prepared.js';
import { nowStamp, stampAfter } from './rows.js';

export interface Pushed {
  readonly id: number;
  readonly queue: string;
  /** False: the id is that of the job that holds the unique key. */
  readonly isNew: boolean;
}

/**
 * Stores a job, or finds the one that holds its key. Needs no transaction: on a connection without one, the holder may
 * be gone when it is looked for, and then the key is free and the insert is tried again.
 */
export function pushJob(statements: PreparedStatements, job: EncodedJob, now: Date): Pushed {
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const pushed = insertJob(statements, job, now) ?? findHolder(statements, job);
    if (pushed !== null) return pushed;
  }
  throw new QueueError(
    'store_busy',
    job.unique === null
      ? 'The job was not stored: a trigger on the table of jobs dropped the row'
      : `The unique key of the job changed hands ${CLAIM_ROUNDS} times during one push`,
  );
}

/** `pushJob` for many on a transaction that is not ours to roll back: where one is refused, the others are taken back. */
export function pushJobsOrNone(statements: PreparedStatements, jobs: readonly EncodedJob[], now: Date): Pushed[] {
  const pushed: Pushed[] = [];
  try {
    for (const job of jobs) pushed.push(pushJob(statements, job, now));
    return pushed;
  } catch (error) {
    for (const { id, isNew } of pushed) if (isNew) statements.run('deleteInserted', { id });
    throw error;
  }
}

/** A given id as a number. Throws `id_out_of_range`. */
export function checkGivenId(id: bigint): number {
  const number = Number(id);
  if (Number.isSafeInteger(number)) return number;
  throw new QueueError(
    'id_out_of_range',
    `The table of jobs gives ids above 2^53 − 1 (${id}), which a JavaScript number cannot hold. Nothing was stored. ` +
      'The next id is in sqlite_sequence',
  );
}

function insertJob(statements: PreparedStatements, job: EncodedJob, now: Date): Pushed | null {
  const row = statements.first<{ readonly id: bigint }>('insertJob', {
    queue: job.queue,
    name: job.name,
    payload: job.payloadJson,
    maxAttempts: job.maxAttempts,
    priority: job.priority,
    unique: job.unique,
    availableAt: stampAfter(now, job.delay),
    now: nowStamp(now),
  });
  if (row === undefined) return null;
  try {
    return { id: checkGivenId(row.id), queue: job.queue, isNew: true };
  } catch (error) {
    statements.run('deleteInserted', { id: row.id });
    throw error;
  }
}

function findHolder(statements: PreparedStatements, job: EncodedJob): Pushed | null {
  if (job.unique === null) return null;
  const holder = statements.first<{ readonly id: number }>('findByUnique', { unique: job.unique });
  if (holder === undefined) return null;
  if (Number.isSafeInteger(holder.id)) return { id: holder.id, queue: job.queue, isNew: false };
  throw new QueueError(
    'id_out_of_range',
    'The unique key is held by a job whose id is above 2^53 − 1, which a JavaScript number cannot hold',
  );
}
