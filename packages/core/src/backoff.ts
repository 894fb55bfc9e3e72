import { QueueError } from './errors.js';
import { checkDelay, kindOf } from './limits.js';

/** Seconds before the next attempt: constant, one per attempt (the last one repeats), or computed. */
export type Backoff = number | readonly number[] | ((attempt: number) => number);

export const DEFAULT_BACKOFF: readonly number[] = [10, 60, 300];

/** A checked copy of the option. Throws `invalid_number` or `invalid_option`. */
export function checkBackoff(backoff: unknown): Backoff {
  if (typeof backoff === 'function') return backoff as (attempt: number) => number;
  if (!Array.isArray(backoff)) return checkDelay(backoff);
  if (backoff.length === 0) throw new QueueError('invalid_option', 'A list of backoffs has to have at least one delay');
  return Array.from(backoff, (delay) => checkDelay(delay)); // not map, which would pass over holes
}

/**
 * Seconds before the attempt after the `attempt`-th. A function that throws or gives anything but a whole number is
 * reported to `onInvalid`, and the default list stands in for it: a job is never lost to a wrong backoff.
 */
export function backoffDelay(backoff: Backoff, attempt: number, onInvalid: (error: unknown) => void): number {
  if (typeof backoff === 'number') return backoff;
  if (typeof backoff !== 'function') return nth(backoff, attempt);
  try {
    const given: unknown = backoff(attempt);
    // That of an async function is refused below; left alone, its rejection would end the process.
    if (given instanceof Promise) given.catch(() => {});
    return checkDelay(given);
  } catch (error) {
    onInvalid(error);
    return nth(DEFAULT_BACKOFF, attempt);
  }
}

/** `delay` with up to `jitter` (a share of it) added, so that jobs that failed together do not come back together. */
export function withJitter(delay: number, jitter: number, random: () => number): number {
  const most = Math.floor(delay * jitter);
  return Math.min(delay + Math.floor(random() * (most + 1)), Number.MAX_SAFE_INTEGER);
}

/** The share of a delay that jitter may add: 0 (none) to 1. Throws `invalid_number`. */
export function checkJitter(jitter: unknown): number {
  if (typeof jitter === 'number' && jitter >= 0 && jitter <= 1) return jitter;
  const got = typeof jitter === 'number' ? String(jitter) : kindOf(jitter);
  throw new QueueError('invalid_number', `jitter has to be a share from 0 to 1; got ${got}`);
}

function nth(delays: readonly number[], attempt: number): number {
  const index = Math.min(Math.max(Math.trunc(attempt) || 1, 1), delays.length) - 1;
  return delays[index] ?? 0;
}
