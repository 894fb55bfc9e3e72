import { type NewJob, QueueError, type QueueErrorCode } from '@q/core';
import { checkQueues, type EncodedJob } from '@q/core/driver-kit';
import type { Harness } from '../../src/index.js';
import { ReferenceDriver } from '../reference-driver.js';
import { type DriverClass, referenceHarness } from '../reference-harness.js';

/** A driver that is wrong in one way, and the case that has to say so. */
export interface Mutant {
  /** What is wrong with it: follows "a driver that". */
  readonly what: string;
  /** The id of the case that has to fail on it. */
  readonly caughtBy: string;
  readonly harness: Harness;
}

/** A mutant of the reference driver. */
export function mutant(caughtBy: string, what: string, Driver: DriverClass): Mutant {
  return { what, caughtBy, harness: referenceHarness(Driver) };
}

export function refuse(code: QueueErrorCode, message: string): never {
  throw new QueueError(code, message);
}

/** What a careless driver makes of a number it does not check. */
export function careless(value: unknown): number {
  return Math.trunc(Number(value)) || 0;
}

/** A driver that encodes what is pushed in a way of its own. */
export function encoding(encode: (job: NewJob) => EncodedJob): DriverClass {
  return class extends ReferenceDriver {
    protected override encode(job: NewJob): EncodedJob {
      return encode(job);
    }
  };
}

/** Whether a queue of that name may be. */
export function isQueue(queue: unknown): queue is string {
  try {
    return checkQueues([queue]).length === 1;
  } catch {
    return false;
  }
}
