import { QueueError } from '../errors.js';
import { kindOf } from '../limits.js';
import type { Outcome } from './run-job.js';

/** Probabilities, from 0 (the default) to 1, of what a handler has to bear anyway, only seldom. */
export interface WorkerChaos {
  /**
   * That a job whose handler has returned is put back instead of deleted, due at once, its attempt counted. Only while
   * attempts are left, so that it comes to an end.
   */
  readonly deliverTwice?: number | undefined;
  /**
   * That the process is killed (SIGKILL) when a handler has returned, before that is written down. The job comes back when
   * its claim has expired; whoever started the process has to start another.
   */
  readonly dieAfterHandler?: number | undefined;
}

export interface SettledChaos {
  readonly deliverTwice: number;
  readonly dieAfterHandler: number;
}

export type Trouble = 'dies' | 'delivered_again' | null;

/** Checks the option. Throws `invalid_option`, also where NODE_ENV is `production`; `invalid_number`. */
export function settleChaos(chaos: WorkerChaos | undefined): SettledChaos | null {
  if (chaos === undefined) return null;
  if (typeof chaos !== 'object' || chaos === null) {
    throw new QueueError('invalid_option', `chaos has to be an object of probabilities; got ${kindOf(chaos)}`);
  }
  if (process.env.NODE_ENV === 'production') {
    throw new QueueError('invalid_option', 'chaos is for staging and tests: leave it out where NODE_ENV is production');
  }
  return {
    deliverTwice: checkProbability('deliverTwice', chaos.deliverTwice ?? 0),
    dieAfterHandler: checkProbability('dieAfterHandler', chaos.dieAfterHandler ?? 0),
  };
}

/** What befalls a job whose handler has settled. One that completed in its own transaction is not there to come back. */
export function troubleAfter(chaos: SettledChaos | null, outcome: Outcome, job: { isLastAttempt(): boolean }): Trouble {
  if (chaos === null || (outcome.type !== 'done' && outcome.type !== 'completed')) return null;
  if (Math.random() < chaos.dieAfterHandler) return 'dies';
  const isAgain = outcome.type === 'done' && !job.isLastAttempt() && Math.random() < chaos.deliverTwice;
  return isAgain ? 'delivered_again' : null;
}

/** Never resolves. */
export function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

function checkProbability(what: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  const got = typeof value === 'number' ? String(value) : kindOf(value);
  throw new QueueError('invalid_number', `chaos.${what} has to be a probability, from 0 to 1; got ${got}`);
}
