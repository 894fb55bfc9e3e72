import type { FailedSelection } from '@q/core';
import type { Connection } from './connection.js';
import { IdTable } from './literals.js';
import { checkGivenId, checkStored } from './push.js';
import { type MovedRow, nowStamp, stampUpTo } from './rows.js';
import type { Session } from './session.js';

interface Id {
  readonly id: string;
}

// Rows at a time, where all failed jobs are requeued or forgotten: however many there are, no statement takes long.
const PAGE = 1_000;

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
export async function forget(connection: Connection, which: FailedSelection): Promise<number> {
  if (which === 'all') return forgetPages(connection, (session) => session.all<Id>('anyFailedIds', { limit: PAGE }));
  if ('id' in which) return (await connection.alone((session) => session.run('deleteFailed', { id: which.id }))).rows;
  const before = stampUpTo(which.before);
  return forgetPages(connection, (session) => session.all<Id>('failedIdsBefore', { before, limit: PAGE }));
}

async function forgetPages(connection: Connection, find: (session: Session) => Promise<Id[]>): Promise<number> {
  for (let forgotten = 0; ; ) {
    const page = await connection.read(find);
    const ids = page.map(({ id }) => BigInt(id));
    if (ids.length === 0) return forgotten;
    forgotten += (await connection.alone((session) => session.run('deleteFailedPage', { ids: new IdTable(ids) }))).rows;
    if (ids.length < PAGE) return forgotten;
  }
}

/** Null: it is not there (any more). */
async function requeue(
  session: Session,
  { id, maxAttempts }: { readonly id: number; readonly maxAttempts: number },
  now: Date,
): Promise<{ readonly queue: string } | null> {
  const job = await session.first<MovedRow>('lockFailed', { id });
  if (job === undefined) return null;
  const at = nowStamp(now);
  const { queue, name, payload } = job;
  const fresh = { attempts: 0, maxAttempts, priority: 0, unique: null, availableAt: at, error: '', now: at };
  const stored = await session.run('insertJob', { queue, name, payload, ...fresh });
  checkGivenId(stored.id);
  await checkStored(session, 'storedBytes', { id: stored.id, payload });
  await session.run('deleteFailed', { id });
  return job;
}

/** The ids of the failed jobs that are there now, oldest first. Those added or removed meanwhile do no harm. */
async function* failedIds(connection: Connection): AsyncGenerator<number> {
  const newest = await connection.read((session) => session.first<{ readonly id: string | null }>('lastFailedId'));
  if (newest === undefined || newest.id === null) return;
  const last = Number(newest.id);
  for (let after = -1; ; ) {
    const page = { after, last, limit: PAGE };
    const rows: readonly Id[] = await connection.read((session) => session.all<Id>('failedIds', page));
    for (const { id } of rows) yield Number(id);
    const end = rows.at(-1);
    if (end === undefined) return;
    after = Number(end.id);
  }
}
