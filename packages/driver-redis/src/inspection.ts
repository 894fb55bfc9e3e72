import type { FailedJob, JobState } from '@q/core';
import { secondsAt } from '@q/core/driver-kit';
import type { Context } from './context.js';
import type { QueueLevels } from './keys.js';
import { listOf, numbersOf, textsOf } from './replies.js';

// How many entries of a stream are looked at in one step.
const PAGE = 500;
// How often the queues and levels may change while they are counted, until what is known then has to do.
const ROUNDS = 20;

/** How many jobs could be reserved now, in one queue or, for null, in all. */
export async function countPending({ connection, levels, now }: Context, queue: string | null): Promise<number> {
  for (let round = 1; ; round += 1) {
    const queues = queue === null ? levels.queues : [queue];
    const words = [queue === null ? 'all' : '', String(secondsAt(now()))];
    const [counted, levelsOf, names] = listOf(await connection.run('pending', levels.of(queues), words));
    const isNew = [levels.learn(textsOf(levelsOf)), queue === null && levels.learnQueues(textsOf(names))];
    if (!isNew.includes(true) || round === ROUNDS) return numbersOf(counted)[0] ?? 0;
  }
}

/** The job, wherever it is, or null. */
export async function findJob(context: Context, id: number): Promise<JobState | null> {
  const now = secondsAt(context.now());
  // Counting brings all queues and levels up to date. One that is pushed to only now has no job that was asked for.
  await countPending(context, null);
  const { connection, levels } = context;
  const all = levels.of(levels.queues);
  const words = textsOf(await connection.run('find', all, [String(id)]));
  const found = words.length > 0 ? words : await scanFor(context, all, id);
  if (found === null) return null;
  const row = jobRow(id, found);
  const state = stateOf(row, now);
  const isWaiting = state === 'pending' || state === 'expired';
  return { ...stateRow(row), state, ahead: isWaiting ? await countAhead(context, row, now) : 0 };
}

export async function findFailed({ connection }: Context, id: number): Promise<FailedJob | null> {
  const words = textsOf(await connection.run('findFailed', [], [String(id)]));
  const [failedAt, queue, name, payloadJson, attempts, error] = words;
  if (failedAt === undefined) return null;
  return {
    id,
    failedAt: moment(failedAt),
    queue: queue ?? '',
    name: name ?? '',
    payloadJson: payloadJson ?? '',
    attempts: Number(attempts),
    error: error ?? '',
  };
}

/** A job that has only been pushed is an entry of some stream, and nothing else. */
async function scanFor({ connection }: Context, queues: readonly QueueLevels[], id: number): Promise<string[] | null> {
  for (const { queue, priorities } of queues) {
    for (const priority of priorities) {
      for (let after = '-'; after !== ''; ) {
        const words = [after, String(PAGE), String(id), '+'];
        const [, last = '', ...found] = textsOf(
          await connection.run('scan', [{ queue, priorities: [priority] }], words),
        );
        if (found.length > 0) return found;
        after = last;
      }
    }
  }
  return null;
}

interface JobRow {
  readonly id: number;
  readonly queue: string;
  readonly priority: number;
  readonly name: string;
  readonly payloadJson: string;
  readonly maxAttempts: number;
  readonly created: string;
  readonly attempts: number;
  readonly entry: string;
  readonly due: string;
  readonly unique: string;
  readonly worker: string;
  readonly error: string;
  readonly deadline: string;
}

function jobRow(id: number, words: readonly string[]): JobRow {
  const [queue = '', priority, name = '', payloadJson = '', maxAttempts, created = '', attempts, ...rest] = words;
  const [entry = '', due = '', unique = '', worker = '', error = '', deadline = ''] = rest;
  return {
    id,
    queue,
    priority: Number(priority),
    name,
    payloadJson,
    maxAttempts: Number(maxAttempts),
    created,
    attempts: Number(attempts),
    entry,
    due,
    unique,
    worker,
    error,
    deadline,
  };
}

function stateRow(row: JobRow): Omit<JobState, 'state' | 'ahead'> {
  const { id, queue, priority, name, payloadJson, maxAttempts, attempts, error } = row;
  return {
    id,
    queue,
    name,
    payloadJson,
    attempts,
    maxAttempts,
    priority,
    unique: row.unique === '' ? null : row.unique,
    availableAt: moment(row.due),
    reservedUntil: row.deadline === '' ? null : moment(row.deadline),
    reservedBy: row.deadline === '' ? null : row.worker,
    lastError: error,
    createdAt: moment(row.created),
  };
}

function stateOf({ deadline, due }: JobRow, now: number): JobState['state'] {
  if (deadline !== '') return Number(deadline) > now ? 'reserved' : 'expired';
  return Number(due) > now ? 'delayed' : 'pending';
}

async function countAhead({ connection, levels }: Context, row: JobRow, now: number): Promise<number> {
  const { id, queue, priority, entry, deadline } = row;
  const where = deadline !== '' ? 'claims' : entry === '' ? 'delayed' : 'ready';
  const words = [String(id), String(priority), String(now), where];
  let ahead = Number(await connection.run('ahead', levels.of([queue]), words));
  for (let after = '-'; where === 'ready' && after !== ''; ) {
    const page = [after, String(PAGE), '', entry];
    const [count, last = ''] = textsOf(await connection.run('scan', [{ queue, priorities: [priority] }], page));
    ahead += Number(count);
    after = last;
  }
  return Math.max(0, ahead);
}

function moment(seconds: string): Date {
  return new Date(Number(seconds) * 1000);
}
