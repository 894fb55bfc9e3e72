import type { FailedSelection } from '@q/core';
import { secondsUpTo, stamp } from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import type { PreparedStatements } from './prepared.js';
import { checkGivenId } from './push.js';
import { nowStamp } from './rows.js';

// Ids looked up at a time while all failed jobs are requeued: however many there are, memory is not their number.
const PAGE = 500;

/** Requeues one failed job or all, each in a transaction of its own. Resolves to how many; `onRequeued` is told of each. */
export async function retry(
  connection: Connection,
  request: { readonly which: { readonly id: number } | 'all'; readonly maxAttempts: number },
  onRequeued: (queue: string) => void,
): Promise<number> {
  const { which, maxAttempts } = request;
  let requeued = 0;
  for await (const id of which === 'all' ? failedIds(connection) : [which.id]) {
    const job = await connection.write((statements, now) => requeue(statements, { id, maxAttempts }, now));
    if (job === null) continue;
    requeued += 1;
    onRequeued(job.queue);
  }
  return requeued;
}

/** Deletes failed jobs inside a writing transaction. */
export function forget(statements: PreparedStatements, which: FailedSelection): number {
  if (which === 'all') return statements.run('forgetAllFailed');
  if ('id' in which) return statements.run('deleteFailed', { id: which.id });
  return statements.run('forgetFailedBefore', { before: stamp(secondsUpTo(which.before)) });
}

/** Null: it is not there (any more). */
function requeue(
  statements: PreparedStatements,
  request: { readonly id: number; readonly maxAttempts: number },
  now: Date,
): { readonly queue: string } | null {
  const { id, maxAttempts } = request;
  const row = statements.first<{ readonly id: bigint; readonly queue: string }>('requeueFailed', {
    id,
    maxAttempts,
    now: nowStamp(now),
  });
  if (row === undefined) return null;
  checkGivenId(row.id);
  statements.run('deleteFailed', { id });
  return row;
}

/** The ids of the failed jobs that are there now, oldest first. Those added or removed meanwhile do no harm. */
async function* failedIds(connection: Connection): AsyncGenerator<number> {
  const newest = await connection.read((statements) =>
    statements.first<{ readonly id: number | null }>('lastFailedId'),
  );
  if (newest === undefined || newest.id === null) return;
  let after = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page = { after, last: newest.id, limit: PAGE };
    const rows = await connection.read((statements) => statements.all<{ readonly id: number }>('failedIds', page));
    for (const { id } of rows) yield id;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
