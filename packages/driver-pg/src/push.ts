import { isQueueError, QueueError } from '@q/core';
import { CLAIM_ROUNDS, type EncodedJob } from '@q/core/driver-kit';
import { nowStamp, stampAfter } from './rows.js';
import type { Session } from './session.js';

export interface Pushed {
  readonly id: number;
  /** False: the id of the job that holds the unique key. */
  readonly isNew: boolean;
}

interface StoredRow {
  readonly id: string;
  readonly unique_key: string | null;
}

// What goes in one statement: enough to be quick, and not so much that it has to be held in memory twice.
const CHUNK_JOBS = 1_000;
const CHUNK_CHARACTERS = 4_000_000;

/**
 * Stores a job, or finds the one that holds its key. Needs no transaction: the holder may be gone when it is looked for,
 * done or rolled back, and then the key is free and the insert is tried again.
 */
export async function pushJob(
  session: Session,
  job: EncodedJob,
  options: { readonly now: Date; readonly notifies: boolean },
): Promise<Pushed> {
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const pushed = (await insertJob(session, job, options)) ?? (await findHolder(session, job));
    if (pushed !== null) return pushed;
  }
  throw neverStored([job]);
}

/**
 * `pushJob` for many, in the order of the list, in a transaction: ours, or the caller's, where those that are stored are
 * taken back if a later one is refused.
 */
export async function pushJobs(session: Session, jobs: readonly EncodedJob[], now: Date): Promise<Pushed[]> {
  const firstOfKey = new Map(jobs.toReversed().map((job) => [job.unique, job]));
  const distinct = jobs.filter((job) => job.unique === null || firstOfKey.get(job.unique) === job);
  const pushed = new Map<EncodedJob, Pushed>();
  try {
    for (const chunk of chunksOf(inLockOrder(distinct))) await pushChunk(session, chunk, now, pushed);
  } catch (error) {
    // Any other error has cost the transaction, and the jobs with it.
    if (isQueueError(error)) await session.run('deleteInserted', [newIds(pushed)]);
    throw error;
  }
  return jobs.flatMap((job) => {
    const first = job.unique === null ? job : firstOfKey.get(job.unique);
    const found = first === undefined ? undefined : pushed.get(first);
    return found === undefined ? [] : [{ id: found.id, isNew: found.isNew && first === job }];
  });
}

/** A given id as a number. Throws `id_out_of_range`. */
export function checkGivenId(id: string): number {
  const number = Number(id);
  if (Number.isSafeInteger(number)) return number;
  throw new QueueError(
    'id_out_of_range',
    `The table of jobs gives ids above 2^53 − 1 (${id}), which a JavaScript number cannot hold. Nothing was stored. ` +
      'The next id is that of the sequence of the column',
  );
}

async function insertJob(
  session: Session,
  job: EncodedJob,
  { now, notifies }: { readonly now: Date; readonly notifies: boolean },
): Promise<Pushed | null> {
  const row = await session.first<{ readonly id: string }>(notifies ? 'insertJobAndNotify' : 'insertJob', [
    job.queue,
    job.name,
    job.payloadJson,
    job.maxAttempts,
    job.priority,
    job.unique,
    stampAfter(now, job.delay),
    nowStamp(now),
  ]);
  if (row === undefined) return null;
  const [id] = await givenIds(session, [row]);
  return id === undefined ? null : { id, isNew: true };
}

async function findHolder(session: Session, job: EncodedJob): Promise<Pushed | null> {
  if (job.unique === null) return null;
  const holder = await session.first<StoredRow>('findByUnique', [[job.unique]]);
  return holder === undefined ? null : { id: holderId(holder), isNew: false };
}

/** Stores what is new of these jobs, which have different keys, and finds the holders of the others. */
async function pushChunk(
  session: Session,
  chunk: readonly EncodedJob[],
  now: Date,
  pushed: Map<EncodedJob, Pushed>,
): Promise<void> {
  let missing = chunk;
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const rows = await session.all<StoredRow>('insertJobs', columnsOf(missing, now));
    const ids = await givenIds(session, rows);
    const stored = rows.map((row, index) => ({ id: ids[index] ?? 0, key: row.unique_key }));
    const byKey = new Map(stored.map(({ id, key }) => [key, id]));
    const keyless = stored.filter(({ key }) => key === null).toSorted((a, b) => a.id - b.id);
    for (const job of missing) {
      const id = job.unique === null ? keyless.shift()?.id : byKey.get(job.unique);
      if (id !== undefined) pushed.set(job, { id, isNew: true });
    }
    await findHolders(session, missing, pushed);
    missing = missing.filter((job) => !pushed.has(job));
    if (missing.length === 0) return;
  }
  throw neverStored(missing);
}

async function findHolders(
  session: Session,
  jobs: readonly EncodedJob[],
  pushed: Map<EncodedJob, Pushed>,
): Promise<void> {
  const byKey = new Map(jobs.filter((job) => job.unique !== null && !pushed.has(job)).map((job) => [job.unique, job]));
  if (byKey.size === 0) return;
  for (const holder of await session.all<StoredRow>('findByUnique', [[...byKey.keys()]])) {
    const job = byKey.get(holder.unique_key);
    if (job !== undefined) pushed.set(job, { id: holderId(holder), isNew: false });
  }
}

/** Given ids as numbers. Where one cannot be, all of them are taken back: throws `id_out_of_range`. */
async function givenIds(session: Session, rows: readonly { readonly id: string }[]): Promise<number[]> {
  try {
    return rows.map(({ id }) => checkGivenId(id));
  } catch (error) {
    await session.run('deleteInserted', [rows.map(({ id }) => id)]);
    throw error;
  }
}

function holderId({ id }: StoredRow): number {
  const number = Number(id);
  if (Number.isSafeInteger(number)) return number;
  throw new QueueError(
    'id_out_of_range',
    'The unique key is held by a job whose id is above 2^53 − 1, which a JavaScript number cannot hold',
  );
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

function* chunksOf(jobs: readonly EncodedJob[]): Generator<EncodedJob[]> {
  let chunk: EncodedJob[] = [];
  let characters = 0;
  for (const job of jobs) {
    if (chunk.length === CHUNK_JOBS || (chunk.length > 0 && characters + job.payloadJson.length > CHUNK_CHARACTERS)) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(job);
    characters += job.payloadJson.length;
  }
  if (chunk.length > 0) yield chunk;
}

function columnsOf(jobs: readonly EncodedJob[], now: Date) {
  return [
    jobs.map(({ queue }) => queue),
    jobs.map(({ name }) => name),
    jobs.map(({ payloadJson }) => payloadJson),
    jobs.map(({ maxAttempts }) => maxAttempts),
    jobs.map(({ priority }) => priority),
    jobs.map(({ unique }) => unique),
    jobs.map(({ delay }) => stampAfter(now, delay)),
    nowStamp(now),
  ];
}

function newIds(pushed: ReadonlyMap<EncodedJob, Pushed>): number[] {
  return [...pushed.values()].filter(({ isNew }) => isNew).map(({ id }) => id);
}

function neverStored(jobs: readonly EncodedJob[]): QueueError {
  return new QueueError(
    'store_busy',
    jobs.some(({ unique }) => unique === null)
      ? 'The job was not stored: a trigger on the table of jobs dropped the row'
      : `The unique key of the job changed hands ${CLAIM_ROUNDS} times during one push`,
  );
}
