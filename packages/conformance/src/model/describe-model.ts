import type { Runner } from '../describe-driver.js';
import type { Harness } from '../harness.js';
import { type PropertyOptions, type PropertyResult, settled } from './property.js';
import { runSchedules } from './schedules.js';
import { runSequences, type SequenceOptions } from './sequences.js';

export interface ModelOptions {
  /** How many sequences of calls are played, and which. Default: 200. */
  readonly sequences?: SequenceOptions | undefined;
  /** How many schedules of calls that overlap are played, and which. Default: 200. */
  readonly schedules?: PropertyOptions | undefined;
}

// For slow stores and long runs; a sequence that hangs is told by our own message long before.
const RUNNER_TIMEOUT_MS = 600_000;

/**
 * Registers two tests with a test runner: random sequences of calls against the model, and random schedules of calls that
 * overlap against what is true whoever goes first. Their seed is in their names; a failure tells how to see it again.
 *
 * ```ts
 * import { describe, test } from 'vitest'; // or 'node:test', or jest's globals
 * describeModel({ describe, test }, 'MyDriver', harness);
 * ```
 */
export function describeModel(
  { describe, test }: Runner,
  name: string,
  harness: Harness,
  options: ModelOptions = {},
): void {
  const sequences = settled(options.sequences);
  const schedules = settled(options.schedules);
  describe(`${name} agrees with the model`, () => {
    test(
      `Calls one after the other are answered as the model says (${sequences.runs} sequences, seed ${sequences.seed})`,
      async () => report(await runSequences(harness, sequences)),
      RUNNER_TIMEOUT_MS,
    );
    test(
      `Calls that overlap keep the rules, whoever goes first (${schedules.runs} schedules, seed ${schedules.seed})`,
      async () => report(await runSchedules(harness, schedules)),
      RUNNER_TIMEOUT_MS,
    );
  });
}

function report(result: PropertyResult): void {
  if (result.outcome === 'failed') throw result.error;
}
