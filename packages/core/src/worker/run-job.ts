import { PlainFailure } from '../error-detail.js';
import { JobAborted } from '../errors.js';
import { type Handlers, resolveHandler } from '../handlers.js';
import type { JobInHand } from '../job.js';
import type { Clock } from './clock.js';

const NOT_COMMITTED = 'The transaction that completed this job did not commit';

/** How an attempt ended, as far as its handler goes: what is to be written follows from it. */
export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'released'; readonly delay: number }
  | { readonly type: 'thrown'; readonly error: unknown }
  /** `complete(tx)` went through; whether that transaction committed only the store can tell. */
  | { readonly type: 'completed'; readonly error: unknown }
  /** Past the time limit and its grace. The handler goes on; `settled` resolves if it ever ends. */
  | { readonly type: 'timed_out'; readonly error: unknown; readonly settled: Promise<unknown> };

export interface Limits {
  /** 0: none. */
  readonly timeoutMs: number;
  readonly graceMs: number;
}

/**
 * Runs one attempt: finds the handler, calls it, and waits until it has settled or has been given up. Never rejects: a
 * handler that cannot be built is one that threw. The time limit counts from here, the handler's start.
 */
export function runJob(job: JobInHand, handlers: Handlers, limits: Limits, clock: Clock): Promise<Outcome> {
  const running = attempt(job, handlers);
  if (limits.timeoutMs === 0) return running;
  return new Promise((resolve) => {
    const abandon = () => {
      resolve({ type: 'timed_out', error: new PlainFailure('The job ran past the timeout'), settled: running });
    };
    let cancel = clock.after(limits.timeoutMs, () => {
      job.abort(new JobAborted('timeout', `The job ran past its time limit of ${limits.timeoutMs / 1000} s`));
      cancel = clock.after(limits.graceMs, abandon);
    });
    void running.then((outcome) => {
      cancel();
      resolve(outcome);
    });
  });
}

async function attempt(job: JobInHand, handlers: Handlers): Promise<Outcome> {
  let thrown: { readonly error: unknown } | null = null;
  try {
    const handler = await resolveHandler(handlers, job.name);
    await handler.handle(job.payload, job);
  } catch (error) {
    thrown = { error };
  }
  await job.completionSettled();
  const { completed, releaseDelay } = job.wishes;
  if (completed) {
    return { type: 'completed', error: thrown === null ? new PlainFailure(NOT_COMMITTED) : thrown.error };
  }
  if (thrown !== null) return { type: 'thrown', error: thrown.error };
  return releaseDelay === null ? { type: 'done' } : { type: 'released', delay: releaseDelay };
}
