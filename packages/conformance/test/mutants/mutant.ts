import { type ABILITIES, type Ability, type NewJob, QueueError, type QueueErrorCode } from '@q/core';
import { checkQueues, type EncodedJob } from '@q/core/driver-kit';
import type { Harness } from '../../src/index.js';
import { ReferenceDriver } from '../reference-driver.js';
import { type DriverClass, referenceHarness } from '../reference-harness.js';
import type { MemoryStore, Row } from '../reference-store.js';

/** A driver that is wrong in one way, and the case that has to say so. */
export interface Mutant {
  /** What is wrong with it: follows "a driver that". */
  readonly what: string;
  /** The id of the case that has to fail on it. */
  readonly caughtBy: string;
  readonly harness: Harness;
}

type Method = 'push' | 'reserve' | 'delete' | 'release' | 'fail' | 'pending' | (typeof ABILITIES)[Ability][number];

/** A mutant of the reference driver. */
export function mutant(caughtBy: string, what: string, Driver: DriverClass): Mutant {
  return { what, caughtBy, harness: referenceHarness(Driver) };
}

/** The reference driver, of which these methods alone are those of a broken one on the same store. */
export function only(methods: readonly Method[], Broken: DriverClass): DriverClass {
  return class extends ReferenceDriver {
    constructor(store: MemoryStore, now: () => Date) {
      super(store, now);
      const broken = new Broken(store, now);
      for (const method of methods) Object.defineProperty(this, method, { value: broken[method].bind(broken) });
    }
  };
}

export function refuse(code: QueueErrorCode, message: string): never {
  throw new QueueError(code, message);
}

/** What a careless driver makes of a number it does not check. */
export function careless(value: unknown): number {
  return Math.trunc(Number(value)) || 0;
}

/** A driver that encodes a job of a plain push in a way of its own. What is no job is refused as it should be. */
export function encoding(encode: (job: NewJob) => EncodedJob): DriverClass {
  return class extends ReferenceDriver {
    protected override encode(job: NewJob): EncodedJob {
      return typeof job === 'object' && job !== null ? encode(job) : super.encode(job);
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

/** Who of the clients of a store did something to a row, for mutants that treat their own rows and others' differently. */
export class Doers {
  readonly #doers = new WeakMap<Row, ReferenceDriver>();

  note(row: Row, driver: ReferenceDriver): void {
    this.#doers.set(row, driver);
  }

  /** Whether it was another client, and one that is known: a row of another hand is nobody's. */
  isAnother(row: Row, driver: ReferenceDriver): boolean {
    const doer = this.#doers.get(row);
    return doer !== undefined && doer !== driver;
  }

  isNobody(row: Row): boolean {
    return !this.#doers.has(row);
  }
}
