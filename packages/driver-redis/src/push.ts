import { QueueError } from '@q/core';
import { CLAIM_ROUNDS, type EncodedJob, secondsAfter, secondsAt } from '@q/core/driver-kit';
import type { Context } from './context.js';
import { idOutOfRange } from './errors.js';
import type { Level, QueueLevels } from './keys.js';
import { textsOf } from './replies.js';

// A batch is one command, and ioredis makes one text of it.
const LARGEST_BATCH_BYTES = 256 * 2 ** 20;

/** Stores all jobs, or none, and resolves to their ids in the order given; a held key gives its holder's. */
export async function pushJobs({ connection, now }: Context, jobs: readonly EncodedJob[]): Promise<number[]> {
  checkSize(jobs);
  const levels: Level[] = [...jobs];
  for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
    const queues = grouped(levels);
    const [outcome, ...words] = textsOf(await connection.run('push', queues, jobWords(jobs, queues, now())));
    if (outcome === 'pushed') return words.map(Number);
    if (outcome === 'full') throw idOutOfRange(connection.counter);
    for (let n = 0; n < words.length; n += 2) levels.push({ queue: words[n] ?? '', priority: Number(words[n + 1]) });
  }
  throw new QueueError('store_busy', `The unique key of a job changed hands ${CLAIM_ROUNDS} times during one push`);
}

function jobWords(jobs: readonly EncodedJob[], queues: readonly QueueLevels[], now: Date): string[] {
  const numbers = new Map(queues.map(({ queue }, index) => [queue, index + 1]));
  const words = jobs.map(({ queue, priority, delay, maxAttempts, unique, name, payloadJson }) => {
    const due = delay === 0 ? '' : secondsAfter(now, delay);
    return [numbers.get(queue), priority, due, maxAttempts, unique ?? '', name, payloadJson].join('\t');
  });
  return [String(secondsAt(now)), ...words];
}

/** The levels by queue, each once. */
function grouped(levels: readonly Level[]): QueueLevels[] {
  const priorities = new Map<string, Set<number>>();
  for (const { queue, priority } of levels) {
    const known = priorities.get(queue);
    if (known === undefined) priorities.set(queue, new Set([priority]));
    else known.add(priority);
  }
  return [...priorities].map(([queue, known]) => ({ queue, priorities: [...known] }));
}

function checkSize(jobs: readonly EncodedJob[]): void {
  if (jobs.length === 1) return;
  const bytes = jobs.reduce((sum, { payloadJson }) => sum + Buffer.byteLength(payloadJson), 0);
  if (bytes <= LARGEST_BATCH_BYTES) return;
  throw new QueueError(
    'payload_too_large',
    `A batch may have ${LARGEST_BATCH_BYTES} bytes of payloads on Redis, where it is one command; this one has ${bytes}`,
  );
}
