import { hasBatches, hasBatchLeases, hasLeases } from '../abilities.js';
import type { Claim, QueueDriver, ReservedJob } from '../driver.js';
import { QueueError } from '../errors.js';
import type { Clock } from './clock.js';

/** One claim that was handed out, and the latest moment by which its deadline was certainly still ahead. */
export interface Claimed {
  readonly job: ReservedJob;
  readonly claimedAtMs: number;
}

/**
 * A driver as the worker sees it: with every batch, where the driver has none made by a loop (here and nowhere else), and
 * with a deadline on every call, because a half-open connection never answers.
 */
export class DriverCalls {
  readonly #driver: QueueDriver;
  readonly #clock: Clock;
  readonly #deadlineMs: number;

  constructor(driver: QueueDriver, clock: Clock, deadlineMs: number) {
    this.#driver = driver;
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Up to `limit` claims. Jobs that a call gives after it was given up go to `onLate`. Where claims are made one by one,
   * the first taken over from an expired claim ends the round, as it ends a batch.
   */
  async reserve(
    queues: readonly string[],
    limit: number,
    seconds: number,
    worker: string,
    onLate: (jobs: readonly ReservedJob[]) => void,
  ): Promise<Claimed[]> {
    const driver = this.#driver;
    if (limit > 1 && hasBatches(driver)) {
      const claimedAtMs = this.#clock.monotonicMs();
      const call = () => driver.reserveMany(queues, limit, seconds, worker);
      const jobs = await this.#within('reserveMany', call, onLate);
      return jobs.map((job) => ({ job, claimedAtMs }));
    }
    const claimed: Claimed[] = [];
    while (claimed.length < limit && claimed.at(-1)?.job.reclaimed !== true) {
      const claimedAtMs = this.#clock.monotonicMs();
      try {
        const call = () => driver.reserve(queues, seconds, worker);
        const job = await this.#within('reserve', call, (late) => onLate(late === null ? [] : [late]));
        if (job === null) break;
        claimed.push({ job, claimedAtMs });
      } catch (error) {
        if (claimed.length === 0) throw error;
        break; // what was claimed is run; the next reserve meets the same error
      }
    }
    return claimed;
  }

  /** Deletes and resolves to the claims that were lost. */
  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    const driver = this.#driver;
    if (claims.length > 1 && hasBatches(driver)) {
      return this.#within('deleteMany', () => driver.deleteMany(claims));
    }
    return this.#eachLost(claims, (claim) => this.delete(claim));
  }

  /** Renews and resolves to the claims that were lost. `deadlineMs`: a renewal must not outlast the claim it is for. */
  async extendMany<C extends Claim>(claims: readonly C[], seconds: number, deadlineMs: number): Promise<C[]> {
    const driver = this.#driver;
    const limit = Math.min(deadlineMs, this.#deadlineMs);
    if (hasBatchLeases(driver)) {
      return this.#within('extendMany', () => driver.extendMany(claims, seconds), undefined, limit);
    }
    if (!hasLeases(driver)) return [];
    return this.#eachLost(claims, (claim) =>
      this.#within('extend', () => driver.extend(claim, seconds), undefined, limit),
    );
  }

  delete(claim: Claim): Promise<boolean> {
    return this.#within('delete', () => this.#driver.delete(claim));
  }

  release(claim: Claim, delay: number, error: string): Promise<boolean> {
    return this.#within('release', () => this.#driver.release(claim, delay, error));
  }

  fail(claim: Claim, error: string): Promise<boolean> {
    return this.#within('fail', () => this.#driver.fail(claim, error));
  }

  /** Jobs that could be reserved right now from these queues. */
  async pending(queues: readonly string[]): Promise<number> {
    let total = 0;
    for (const queue of new Set(queues)) {
      total += await this.#within('pending', () => this.#driver.pending(queue));
    }
    return total;
  }

  async #eachLost<C extends Claim>(claims: readonly C[], act: (claim: C) => Promise<boolean>): Promise<C[]> {
    const lost: C[] = [];
    for (const claim of claims) if (!(await act(claim))) lost.push(claim);
    return lost;
  }

  /** The call's answer, or `call_timeout` when there is none by the deadline; one that comes later goes to `onLate`. */
  #within<T>(what: string, call: () => Promise<T>, onLate?: (answer: T) => void, ms = this.#deadlineMs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      const giveUp = () => {
        isLate = true;
        reject(new QueueError('call_timeout', `The driver did not answer ${what} within ${ms / 1000} s`));
      };
      const cancel = ms === Number.POSITIVE_INFINITY ? () => {} : this.#clock.after(ms, giveUp);
      // An async function: a driver that throws before it returns a promise is a failed call like any other.
      (async () => call())().then(
        (answer) => {
          cancel();
          if (isLate) onLate?.(answer);
          else resolve(answer);
        },
        (error: unknown) => {
          cancel();
          reject(error);
        },
      );
    });
  }
}
