import type { FailedSelection } from '@q/core';
import type { Connection } from './connection.js';
import { checkGivenId } from './push.js';
import { nowStamp, stampUpTo } from './rows.js';
import type { Session, Value } from './session.js';

interface Id {
  readonly id: string;
}

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
    const job = await connection.transaction((session, now) => requeue(session, { id, maxAttempts }, now));
    if (job === null) continue;
    requeued += 1;
    onRequeued(job.queue);
  }
  return requeued;
}

/** Deletes failed jobs. */
export async function forget(session: Session, which: FailedSelection): Promise<number> {
  if (which === 'all') return session.run('forgetAllFailed');
  if ('id' in which) return session.run('deleteFailed', [which.id]);
  return session.run('forgetFailedBefore', [stampUpTo(which.before)]);
}

/** Null: it is not there (any more). */
async function requeue(
  session: Session,
  { id, maxAttempts }: { readonly id: number; readonly maxAttempts: number },
  now: Date,
): Promise<{ readonly queue: string } | null> {
  const values = [id, maxAttempts, nowStamp(now)];
  const row = await session.first<{ readonly id: string; readonly queue: string }>('requeueFailed', values);
  if (row === undefined) return null;
  checkGivenId(row.id);
  return row;
}

/** The ids of the failed jobs that are there now, oldest first. Those added or removed meanwhile do no harm. */
async function* failedIds(connection: Connection): AsyncGenerator<number> {
  const newest = await connection.run((session) => session.first<{ readonly id: string | null }>('lastFailedId'));
  if (newest === undefined || newest.id === null) return;
  const last = newest.id;
  let after: string | number = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const page: Value[] = [after, last, PAGE];
    const rows: readonly Id[] = await connection.run((session) => session.all<Id>('failedIds', page));
    for (const { id } of rows) yield Number(id);
    const end = rows.at(-1);
    if (end === undefined) return;
    after = end.id;
  }
}
