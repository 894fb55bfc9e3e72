import {
  type Finding,
  hasScratch,
  type QueueDriver,
  type QueueScratch,
  type Scratch,
  type ScratchOptions,
} from '@q/core';
import { inWords } from '../expectations.js';

/**
 * The scratch twins of a driver, and those that were made of them in turn: whatever becomes of the cases that asked for
 * them, all of them are removed.
 */
export class Twins {
  readonly #driver: QueueDriver & QueueScratch;
  readonly #open = new Set<Scratch>();
  readonly #beingMade = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(driver: QueueDriver & QueueScratch) {
    this.#driver = driver;
  }

  /** A new twin. Its warnings are told nowhere: what there is to know is in the findings. */
  open(options: ScratchOptions): Promise<Scratch> {
    return this.#make((given) => this.#driver.scratch(given), options);
  }

  /** Makes a twin, asks it for something and removes it. Null: it worked. */
  async tryOne(): Promise<Finding | null> {
    try {
      const twin = await this.open({});
      await twin.driver.pending();
      await twin[Symbol.asyncDispose]();
      return null;
    } catch (error) {
      return {
        level: 'warning',
        code: 'scratch',
        message: `No scratch twin could be made, so nothing was tried out: ${inWords(error)}`,
        advice: 'Run it as a user that may create tables, or keys that begin with {queue_scratch_',
      };
    }
  }

  /** Removes all that are left; from now on none is made. Rejects with what the first of them was not removed for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#beingMade);
    const removed = await Promise.allSettled([...this.#open].map((twin) => twin[Symbol.asyncDispose]()));
    for (const result of removed) if (result.status === 'rejected') throw result.reason;
  }

  async #make(scratch: QueueScratch['scratch'], options: ScratchOptions = {}): Promise<Scratch> {
    if (this.#isClosed) throw new Error('It was interrupted');
    const making = scratch({ onWarning: () => {}, ...options }).then((twin) => this.#keep(twin));
    this.#beingMade.add(making);
    try {
      return await making;
    } finally {
      this.#beingMade.delete(making);
    }
  }

  #keep(twin: Scratch): Scratch {
    const { driver } = twin;
    if (hasScratch(driver)) {
      const scratch = driver.scratch.bind(driver);
      Object.defineProperty(driver, 'scratch', { value: (options: ScratchOptions) => this.#make(scratch, options) });
    }
    const kept: Scratch = {
      driver,
      connect: () => twin.connect(),
      [Symbol.asyncDispose]: async () => {
        // Once, however often it is asked for: by the case, and at the end.
        if (this.#open.delete(kept)) await twin[Symbol.asyncDispose]();
      },
    };
    this.#open.add(kept);
    return kept;
  }
}
