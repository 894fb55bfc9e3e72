import { isQueueError, QueueError } from './errors.js';

/** Characters (code points) a text may have, on every driver alike: the SQL columns are exactly this wide. */
export const TEXT_LIMITS = { queue: 64, name: 190, unique: 190, worker: 64 } as const;

// What the columns hold: 32-bit integers, and moments up to the last second of the year 9999.
const INT32_MAX = 2_147_483_647;

type Role = keyof typeof TEXT_LIMITS;
const ROLE_NAMES: Readonly<Record<Role, string>> = {
  queue: 'A queue name',
  name: 'A job name',
  unique: 'A unique key',
  worker: 'A worker id',
};

/**
 * The text itself, if it is within the limits: 1 to the role's number of characters, well-formed, without control
 * characters or white space at either end (two keys that differ in that alone look the same to a person).
 * Throws `invalid_text`.
 */
export function checkText(role: Role, value: unknown): string {
  const who = ROLE_NAMES[role];
  if (typeof value !== 'string') throw new QueueError('invalid_text', `${who} has to be text; got ${kindOf(value)}`);
  const limit = TEXT_LIMITS[role];
  if (value === '') throw new QueueError('invalid_text', `${who} has to have 1 to ${limit} characters; got none`);
  if (value.length > limit && codePoints(value) > limit) {
    const got = `${codePoints(value)}: ${shown(value)}`;
    throw new QueueError('invalid_text', `${who} has to have 1 to ${limit} characters; got ${got}`);
  }
  if (!isWellFormed(value)) {
    throw new QueueError('invalid_text', `${who} may not hold half a surrogate pair; got ${shown(value)}`);
  }
  if (/\p{Cc}/u.test(value)) {
    throw new QueueError('invalid_text', `${who} may not hold control characters; got ${shown(value)}`);
  }
  if (value.trim() !== value) {
    throw new QueueError('invalid_text', `${who} may not begin or end with white space; got ${shown(value)}`);
  }
  return value;
}

/** A unique key, or null for none (`''`, null and undefined). Throws `invalid_text`. */
export function checkUnique(value: unknown): string | null {
  return value === '' || value === null || value === undefined ? null : checkText('unique', value);
}

/** The queues of a reserve, in order. An empty list is allowed: nothing is due in no queue. Throws `invalid_text`. */
export function checkQueues(queues: unknown): readonly string[] {
  if (!Array.isArray(queues)) {
    throw new QueueError('invalid_option', `The queues to reserve from have to be a list; got ${kindOf(queues)}`);
  }
  return Array.from(queues, (queue) => checkText('queue', queue));
}

/** What `onPush` calls. Throws `invalid_option`. */
export function checkWake(wake: unknown): void {
  if (typeof wake === 'function') return;
  throw new QueueError('invalid_option', `What onPush calls has to be a function; got ${kindOf(wake)}`);
}

/** A worker id, cut to 64 characters: it is for the person looking at a stuck row. Throws `invalid_text`. */
export function checkWorker(value: unknown): string {
  if (typeof value !== 'string') return checkText('worker', value);
  return checkText('worker', [...value].slice(0, TEXT_LIMITS.worker).join('').trim());
}

/**
 * `value`, if it is a safe integer, else `invalid_number`. `what` names it in the message, as a noun with its article.
 * One below `floor` is raised to it, one above `ceiling` lowered.
 */
export function checkInteger(what: string, value: unknown, floor?: number, ceiling?: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    const got = typeof value === 'number' ? String(value) : kindOf(value);
    throw new QueueError('invalid_number', `${what} has to be a whole number; got ${got}`);
  }
  if (floor !== undefined && value < floor) return floor;
  if (ceiling !== undefined && value > ceiling) return ceiling;
  return value === 0 ? 0 : value; // −0 is 0
}

/** A delay in seconds: 0 or more. */
export function checkDelay(value: unknown): number {
  return checkInteger('A delay', value, 0);
}

/** How long a claim lasts, in seconds. 0 or less is a claim that has already expired. */
export function checkTimeout(value: unknown): number {
  return checkInteger('A timeout', value);
}

export function checkPriority(value: unknown): number {
  return checkInteger('A priority', value, -INT32_MAX, INT32_MAX);
}

export function checkMaxAttempts(value: unknown): number {
  return checkInteger('The number of attempts', value, 1, INT32_MAX);
}

/** How many rows or jobs are wanted: at least 1. */
export function checkLimit(value: unknown): number {
  return checkInteger('A limit', value, 1);
}

/** What `check` makes of each job of a push; what is refused is named by its place. Throws `invalid_option` for no list. */
export function checkJobs<T, R>(jobs: readonly T[], check: (job: T) => R): R[] {
  if (!Array.isArray(jobs)) {
    throw new QueueError('invalid_option', `The jobs to push have to be a list; got ${kindOf(jobs)}`);
  }
  return Array.from(jobs as readonly T[], (job, index) => {
    try {
      return check(job);
    } catch (error) {
      if (!isQueueError(error)) throw error;
      throw new QueueError(error.code, `jobs[${index}]: ${error.message}`, { cause: error });
    }
  });
}

/** What a value is, for a message that must not print it: `a string`, `null`, `an object`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  const type = typeof value;
  return type === 'object' ? 'an object' : `a ${type}`;
}

/** A text as it may stand in a message: escaped, and not longer than a line. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
