import { hasBatches, hasBatchLeases, hasLeases, hasTurnover } from '../abilities.js';
import type { Claim, QueueDriver, ReservedJob } from '../driver.js';
import { QueueError } from '../errors.js';
import { kindOf } from '../limits.js';
import type { Clock } from './clock.js';

/** One claim that was handed out, and the latest moment by which its deadline was certainly still ahead. */
export interface Claimed {
  readonly job: ReservedJob;
  readonly claimedAtMs: number;
}

export interface ReserveRequest {
  readonly queues: readonly string[];
  readonly limit: number;
  readonly seconds: number;
  readonly worker: string;
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
   * Up to `limit` claims; on a driver without batches one, so that it is run before the next is asked for. Jobs beyond
   * `limit`, and those that come after the call was given up, go to `onUnwanted`. It is given up after the lease too: a
   * claim that took that long to arrive may be another worker's by now.
   */
  async reserve(
    { queues, limit, seconds, worker }: ReserveRequest,
    onUnwanted: (jobs: readonly ReservedJob[]) => void,
  ): Promise<Claimed[]> {
    const driver = this.#driver;
    const claimedAtMs = this.#clock.monotonicMs();
    const call =
      limit > 1 && hasBatches(driver)
        ? async () => checkReserved(await driver.reserveMany(queues, limit, seconds, worker))
        : async () => checkReserved(listOf(await driver.reserve(queues, seconds, worker)));
    const deadlineMs = Math.min(this.#deadlineMs, seconds * 1000);
    const jobs = await this.#within('reserve', call, onUnwanted, deadlineMs);
    return wantedOf(jobs, { limit, claimedAtMs, onUnwanted });
  }

  /** Whether claims can be deleted and others made in one call. */
  get turnsOver(): boolean {
    return hasTurnover(this.#driver);
  }

  /** `deleteMany` and `reserve` in one call, on a driver that turns over. It is given up as a reserve is. */
  async deleteAndReserve<C extends Claim>(
    claims: readonly C[],
    { queues, limit, seconds, worker }: ReserveRequest,
    onUnwanted: (jobs: readonly ReservedJob[]) => void,
  ): Promise<{ readonly lost: readonly C[]; readonly claimed: Claimed[] }> {
    const driver = this.#driver;
    if (!hasTurnover(driver)) throw new QueueError('ability_missing', 'This driver cannot delete and reserve at once');
    const claimedAtMs = this.#clock.monotonicMs();
    const { lost, jobs } = await this.#within(
      'deleteAndReserve',
      async () => {
        const { lost, jobs } = await driver.deleteAndReserve(claims, queues, limit, seconds, worker);
        return { lost, jobs: checkReserved(jobs) };
      },
      ({ jobs }) => onUnwanted(jobs),
      Math.min(this.#deadlineMs, seconds * 1000),
    );
    return { lost, claimed: wantedOf(jobs, { limit, claimedAtMs, onUnwanted }) };
  }

  /** Deletes and resolves to the claims that were lost. */
  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    const driver = this.#driver;
    if (claims.length > 1 && hasBatches(driver)) {
      return this.#within('deleteMany', () => driver.deleteMany(claims));
    }
    return this.#eachLost(claims, (claim) => this.delete(claim));
  }

  /** Whether one call renews many claims. Where it does not, a call that fails is to cost no claim but its own. */
  get renewsTogether(): boolean {
    return hasBatchLeases(this.#driver);
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
    const acted = await Promise.all(claims.map(act));
    return claims.filter((_, index) => !acted[index]);
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

function listOf(job: ReservedJob | null | undefined): ReservedJob[] {
  return job === null || job === undefined ? [] : [job];
}

/** The claims that were asked for; what a driver gives beyond them goes back. */
function wantedOf(
  jobs: readonly ReservedJob[],
  {
    limit,
    claimedAtMs,
    onUnwanted,
  }: { limit: number; claimedAtMs: number; onUnwanted: (jobs: readonly ReservedJob[]) => void },
): Claimed[] {
  if (jobs.length > limit) onUnwanted(jobs.slice(limit));
  return jobs.slice(0, limit).map((job) => ({ job, claimedAtMs }));
}

/** What a driver of another hand gives is looked at once, here: further on, a job that is none would end the run. */
function checkReserved(jobs: readonly unknown[]): readonly ReservedJob[] {
  if (!Array.isArray(jobs)) throw new TypeError(`The driver has to give a list of jobs; got ${kindOf(jobs)}`);
  const stranger = jobs.findIndex((job) => !isReserved(job));
  if (stranger === -1) return jobs;
  throw new TypeError(`The driver has to give jobs with a name, an id and attempts; got ${kindOf(jobs[stranger])}`);
}

function isReserved(job: unknown): job is ReservedJob {
  if (typeof job !== 'object' || job === null) return false;
  const { id, attempts, name } = job as Partial<ReservedJob>;
  return Number.isSafeInteger(id) && Number.isSafeInteger(attempts) && typeof name === 'string';
}
