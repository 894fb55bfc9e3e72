import { QueueError } from '@q/core';
import { CLAIM_ROUNDS, DEFAULT_MAX_PAYLOAD_BYTES, type EncodedJob } from '@q/core/driver-kit';
import { chunksOf } from './chunks.js';
import type { Connection } from './connection.js';
import { isDuplicateKey, isLostRace, payloadCut } from './errors.js';
import { IdTable } from './literals.js';
import { nowStamp, stampAfter } from './rows.js';
import type { Session } from './session.js';

export interface Pushed {
  readonly id: number;
  /** False: the id of the job that holds the unique key. */
  readonly isNew: boolean;
}

/** What the server said to an insert whose key is held. */
interface Refused {
  readonly refusal: unknown;
}

// What goes in one statement: enough to be quick, and less than a server takes whose max_allowed_packet is a megabyte.
const CHUNK_JOBS = 1_000;
const CHUNK_BYTES = 1_000_000;

// Of a row in a statement: its numbers, times and signs.
const ROW_BYTES = 250;

/**
 * Stores a job, or finds the one that holds its key: single statements, each a transaction of its own. The holder may be
 * gone when it is looked for, done or rolled back, and then the key is free and the insert is tried again.
 */
export async function pushJob(connection: Connection, job: EncodedJob): Promise<Pushed> {
  const deadline = connection.deadline();
  // Of a large one it has to be checked what was stored, before anybody sees it.
  if (isLarge(job)) return connection.transaction((session, now) => pushWithin(session, job, now), deadline);
  let refusal: unknown;
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const stored = await connection.alone((session, now) => insertJob(session, job, now), deadline);
    if ('id' in stored) return stored;
    refusal = stored.refusal;
    const holder = await connection.read((session) => findHolder(session, job, 'findByUnique'), deadline);
    if (holder !== null) return holder;
  }
  throw neverStored(refusal);
}

/** The same in a transaction, ours or the caller's. */
export async function pushWithin(session: Session, job: EncodedJob, now: Date): Promise<Pushed> {
  let refusal: unknown;
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const stored = await insertJob(session, job, now);
    if ('id' in stored) return stored;
    refusal = stored.refusal;
    const holder = await findHolder(session, job, 'findByUniqueLocked');
    if (holder !== null) return holder;
  }
  throw neverStored(refusal);
}

/**
 * `pushWithin` for many, in the order of the list. Where a later one is refused, those that are stored are taken back: the
 * transaction may be the caller's, who goes on with it.
 */
export async function pushManyWithin(session: Session, jobs: readonly EncodedJob[], now: Date): Promise<Pushed[]> {
  const firstOfKey = new Map(jobs.toReversed().map((job) => [job.unique, job]));
  const distinct = jobs.filter((job) => job.unique === null || firstOfKey.get(job.unique) === job);
  const pushed = new Map<EncodedJob, Pushed>();
  try {
    for (const chunk of statementsOf(inLockOrder(distinct))) await pushChunk(session, chunk, now, pushed);
  } catch (error) {
    const ids = [...pushed.values()].filter(({ isNew }) => isNew).map(({ id }) => id);
    const isGone = isLostRace(error) || session.isBroken;
    if (!isGone) {
      for (const some of chunksOf(ids)) await session.run('deleteInserted', { ids: new IdTable(some) });
    }
    throw error;
  }
  return jobs.flatMap((job) => {
    const first = job.unique === null ? job : firstOfKey.get(job.unique);
    const found = first === undefined ? undefined : pushed.get(first);
    return found === undefined ? [] : [{ id: found.id, isNew: found.isNew && first === job }];
  });
}

/** A given id as a number. Throws `id_out_of_range`. */
export function checkGivenId(id: bigint): number {
  const number = Number(id);
  if (Number.isSafeInteger(number)) return number;
  throw new QueueError(
    'id_out_of_range',
    `The table of jobs gives ids above 2^53 − 1 (${id}), which a JavaScript number cannot hold. Nothing was stored. ` +
      'The next id is the AUTO_INCREMENT of the table',
  );
}

/** Throws `payload_too_large` where the server has cut a payload that its column cannot hold. */
export async function checkStored(
  session: Session,
  where: 'storedBytes' | 'storedFailedBytes',
  { id, payload }: { readonly id: bigint; readonly payload: string },
): Promise<void> {
  const bytes = Buffer.byteLength(payload);
  if (bytes <= DEFAULT_MAX_PAYLOAD_BYTES) return;
  const stored = await session.first<{ readonly bytes: string }>(where, { id });
  if (Number(stored?.bytes) !== bytes) throw payloadCut(bytes);
}

/** In one statement, unless a key is held: that undoes the statement, and its halves are tried until the key stands alone. */
async function pushChunk(
  session: Session,
  chunk: readonly EncodedJob[],
  now: Date,
  pushed: Map<EncodedJob, Pushed>,
): Promise<void> {
  const [job] = chunk;
  if (job !== undefined && chunk.length === 1) {
    pushed.set(job, await pushWithin(session, job, now));
    return;
  }
  const ids = await insertJobs(session, chunk, now);
  if (ids !== null) {
    for (const [index, one] of chunk.entries()) pushed.set(one, { id: ids[index] ?? 0, isNew: true });
    return;
  }
  const middle = chunk.length >> 1;
  await pushChunk(session, chunk.slice(0, middle), now, pushed);
  await pushChunk(session, chunk.slice(middle), now, pushed);
}

async function insertJob(session: Session, job: EncodedJob, now: Date): Promise<Pushed | Refused> {
  let id: bigint;
  try {
    ({ id } = await session.run('insertJob', columnsOf(job, now)));
  } catch (error) {
    if (job.unique !== null && isDuplicateKey(error)) return { refusal: error };
    throw error;
  }
  try {
    const given = checkGivenId(id);
    await checkStored(session, 'storedBytes', { id, payload: job.payloadJson });
    return { id: given, isNew: true };
  } catch (error) {
    await session.run('deleteInserted', { ids: new IdTable([id]) });
    throw error;
  }
}

/** Their ids; null: a key is held, and none was stored. */
async function insertJobs(session: Session, jobs: readonly EncodedJob[], now: Date): Promise<number[] | null> {
  const at = nowStamp(now);
  const rows = jobs.map((job) => Object.values(columnsOf(job, now, at)));
  let id: bigint;
  try {
    ({ id } = await session.run('insertJobs', { rows }));
  } catch (error) {
    if (isDuplicateKey(error) && jobs.some(({ unique }) => unique !== null)) return null;
    throw error;
  }
  const step = BigInt((await session.first<{ readonly step: string }>('idStep'))?.step ?? 1);
  const ids = jobs.map((_, index) => id + step * BigInt(index));
  try {
    return ids.map(checkGivenId);
  } catch (error) {
    await session.run('deleteInserted', { ids: new IdTable(ids) });
    throw error;
  }
}

async function findHolder(
  session: Session,
  job: EncodedJob,
  how: 'findByUnique' | 'findByUniqueLocked',
): Promise<Pushed | null> {
  const holder = await session.first<{ readonly id: string }>(how, { unique: job.unique });
  if (holder === undefined) return null;
  const id = Number(holder.id);
  if (Number.isSafeInteger(id)) return { id, isNew: false };
  throw new QueueError(
    'id_out_of_range',
    'The unique key is held by a job whose id is above 2^53 − 1, which a JavaScript number cannot hold',
  );
}

/** In the order of the columns. `at` is now as it is stored: to make a stamp takes longer than all the rest. */
function columnsOf(job: EncodedJob, now: Date, at = nowStamp(now)) {
  return {
    queue: job.queue,
    name: job.name,
    payload: job.payloadJson,
    attempts: 0,
    maxAttempts: job.maxAttempts,
    priority: job.priority,
    unique: job.unique,
    availableAt: job.delay === 0 ? at : stampAfter(now, job.delay),
    error: '',
    now: at,
  };
}

/**
 * The jobs with a key in the order of their keys, at the places where jobs with a key were: so two batches that share keys
 * wait for each other, and never each for the other.
 */
function inLockOrder(jobs: readonly EncodedJob[]): EncodedJob[] {
  const keyed = jobs.filter((job) => job.unique !== null).toSorted((a, b) => compare(a.unique ?? '', b.unique ?? ''));
  const next = keyed.values();
  return jobs.map((job) => (job.unique === null ? job : (next.next().value ?? job)));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** As many jobs as go in one statement each, and those alone that are checked one by one. */
function* statementsOf(jobs: readonly EncodedJob[]): Generator<EncodedJob[]> {
  let chunk: EncodedJob[] = [];
  let bytes = 0;
  for (const job of jobs) {
    const isAlone = isLarge(job);
    const more = bytesOf(job);
    const isFull = chunk.length === CHUNK_JOBS || bytes + more > CHUNK_BYTES;
    if (chunk.length > 0 && (isFull || isAlone)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    if (isAlone) {
      yield [job];
      continue;
    }
    chunk.push(job);
    bytes += more;
  }
  if (chunk.length > 0) yield chunk;
}

/** How long its row is in a statement, at most: in hexadecimal a byte is two. */
function bytesOf({ queue, name, unique, payloadJson }: EncodedJob): number {
  return ROW_BYTES + Buffer.byteLength(payloadJson + queue + name + (unique ?? '')) * 2;
}

/** Longer than a TEXT is, so that its column had to be changed for it; such jobs are stored one by one. */
function isLarge({ payloadJson }: EncodedJob): boolean {
  // No UTF-16 unit is longer than three bytes.
  if (payloadJson.length * 3 <= DEFAULT_MAX_PAYLOAD_BYTES) return false;
  return Buffer.byteLength(payloadJson) > DEFAULT_MAX_PAYLOAD_BYTES;
}

function neverStored(cause: unknown): QueueError {
  return new QueueError('store_busy', `The unique key of the job changed hands ${CLAIM_ROUNDS} times during one push`, {
    cause,
  });
}
