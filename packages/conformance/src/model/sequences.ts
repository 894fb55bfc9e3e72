import fc from 'fast-check';
import { Clock } from '../clock.js';
import type { Harness } from '../harness.js';
import { isThere } from '../run.js';
import { actSteps } from './act-steps.js';
import { claimSteps } from './claim-steps.js';
import { checkProperty, longList, type PropertyOptions, type PropertyResult } from './property.js';
import { pushSteps } from './push-steps.js';
import { reportSteps } from './report-steps.js';
import type { Step } from './step.js';
import { World } from './world.js';

export interface SequenceOptions extends PropertyOptions {
  /** How many steps a sequence has at the most. Default: 60. */
  readonly steps?: number | undefined;
}

const DEFAULT_STEPS = 60;

const STEP_KINDS = [...pushSteps, ...claimSteps, ...actSteps, ...reportSteps];

/**
 * Plays random sequences of calls, one after the other, of two clients of a fresh store each, and compares every answer and
 * all that is stored with the model. What the harness does not promise is not called. Never rejects for a driver's fault.
 */
export function runSequences(harness: Harness, options: SequenceOptions = {}): Promise<PropertyResult> {
  const sequences = longList(stepsFor(harness), options.steps ?? DEFAULT_STEPS);
  const play = async (steps: readonly Step[], story: string[]) => {
    const clock = new Clock();
    const store = await harness.open({ now: clock.now });
    try {
      const world = await World.open({ harness, clock, store, story });
      for (const step of steps) await step.run(world);
    } finally {
      await store.close();
    }
  };
  return checkProperty({ option: 'sequences', values: sequences, play }, options);
}

function stepsFor(harness: Harness): fc.Arbitrary<Step> {
  const kinds = STEP_KINDS.filter(({ needs }) => needs.every((need) => isThere(harness, need)));
  return fc.oneof(...kinds.map(({ weight, steps }) => ({ weight, arbitrary: steps })));
}
