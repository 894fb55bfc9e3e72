import { randomBytes } from 'node:crypto';
import type {
  Claim,
  FailedJob,
  Finding,
  JobState,
  NewJob,
  QueueBatches,
  QueueBatchLeases,
  QueueDiagnosis,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueScratch,
  QueueWakeups,
  ReservedJob,
  Scratch,
  ScratchOptions,
} from '@q/core';
import * as kit from '@q/core/driver-kit';
import { claimJobs } from './claim.js';
import { checkTemplate, type RedisTemplate } from './client.js';
import { Connection } from './connection.js';
import type { Context } from './context.js';
import { diagnose } from './diagnosis.js';
import { actOnClaims, failClaim, releaseClaim } from './finish.js';
import { countPending, findFailed, findJob } from './inspection.js';
import { Keys } from './keys.js';
import { KnownLevels } from './levels.js';
import { type RedisDriverOptions, type SettledRedisOptions, settleRedisOptions } from './options.js';
import { pushJobs } from './push.js';
import { Wakeups } from './wakeups.js';

/**
 * The jobs of q in Redis, 6.2 or later, a single server or a cluster. The application's client is a template: the driver
 * makes its own from it, one for calls and, while somebody waits for pushes, one that waits. What each method promises is
 * told in the contract (`@q/core`); beyond it, every method rejects with `store_unavailable` where nothing was done, with
 * `outcome_unknown` where the connection was lost before the answer, with `call_timeout` where there was none within
 * `callTimeout`. Any other reply of the server's is passed on as it is.
 */
export class RedisDriver
  implements
    QueueDriver,
    QueueBatches,
    QueueLeases,
    QueueBatchLeases,
    QueueWakeups,
    QueueInspection,
    QueueScratch,
    QueueDiagnosis,
    AsyncDisposable
{
  readonly prefix: string;
  readonly #template: RedisTemplate;
  readonly #options: SettledRedisOptions;
  readonly #context: Context;
  readonly #wakeups: Wakeups;

  /** Throws a `QueueError` where an option is not what it has to be; connects to nothing. */
  constructor(client: RedisTemplate, options: RedisDriverOptions = {}) {
    const settled = settleRedisOptions(options);
    const { prefix, callTimeout, now, warn } = settled;
    const template = checkTemplate(client);
    const keys = new Keys(prefix);
    const connection = new Connection({ template, keys, callTimeout, warn });
    this.prefix = prefix;
    this.#template = template;
    this.#options = settled;
    this.#context = { connection, levels: new KnownLevels(), now, warn };
    this.#wakeups = new Wakeups(connection, keys, warn);
  }

  async push(job: NewJob): Promise<number> {
    const encoded = kit.encodeJob(job, this.#options.maxPayloadBytes);
    const [id] = await pushJobs(this.#context, [encoded]);
    // The cast: one job, one id.
    return id as number;
  }

  async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = kit.encodeJobs(jobs, this.#options.maxPayloadBytes);
    return encoded.length === 0 ? [] : pushJobs(this.#context, encoded);
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const [job = null] = await this.reserveMany(queues, 1, timeout, worker);
    return job;
  }

  async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string): Promise<ReservedJob[]> {
    const request = kit.claimRequest(queues, limit, timeout, worker);
    const jobs = await claimJobs(this.#context, request);
    this.#wakeups.reserved({ isSated: jobs.length === request.limit });
    return jobs;
  }

  async delete(claim: Claim): Promise<boolean> {
    return (await this.deleteMany([claim])).length === 0;
  }

  async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
    return actOnClaims(this.#context, claims, 'delete', () => []);
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    return releaseClaim(this.#context, claim, kit.checkDelay(delay), kit.trimErrorText(error));
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    return failClaim(this.#context, claim, kit.trimErrorText(error));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    return (await this.extendMany([claim], timeout)).length === 0;
  }

  async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
    const seconds = kit.checkTimeout(timeout);
    const deadline = () => [String(kit.secondsAfter(this.#options.now(), seconds))];
    return actOnClaims(this.#context, claims, 'extend', deadline);
  }

  async pending(queue?: string | null): Promise<number> {
    const name = queue === null || queue === undefined ? null : kit.checkText('queue', queue);
    return countPending(this.#context, name);
  }

  async find(id: number): Promise<JobState | null> {
    return findJob(this.#context, kit.checkInteger('The id of a job', id));
  }

  async findFailed(id: number): Promise<FailedJob | null> {
    return findFailed(this.#context, kit.checkInteger('The id of a failed job', id));
  }

  async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const names = kit.checkQueues(queues);
    kit.checkWake(wake);
    this.#context.connection.checkOpen();
    return this.#wakeups.subscribe(names, wake);
  }

  async scratch(options: ScratchOptions = {}): Promise<Scratch> {
    const { warn, now, ...settings } = this.#options;
    const prefix = `queue_scratch_${randomBytes(6).toString('hex')}`;
    const own = { prefix, now: options.now ?? now, onWarning: options.onWarning ?? warn };
    const open = () => new RedisDriver(this.#template, { ...settings, ...own });
    const [driver, others] = [open(), [] as RedisDriver[]];
    this.#context.connection.checkOpen();
    return {
      driver,
      connect: async () => others[others.push(open()) - 1] as RedisDriver, // the cast: just pushed
      async [Symbol.asyncDispose]() {
        await Promise.all(others.map((other) => other.close()));
        await driver.#wipe();
      },
    };
  }

  async diagnose(): Promise<Finding[]> {
    return diagnose(this.#context);
  }

  /** Ends the connections of the driver's own; calls under way still end, for a moment. The client given is left alone. */
  async close(): Promise<void> {
    const closed = this.#context.connection.close();
    await this.#wakeups.close();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Deletes everything under the prefix, and closes. */
  async #wipe(): Promise<void> {
    const { connection, levels } = this.#context;
    try {
      await countPending(this.#context, null);
      await connection.run('wipe', levels.of(levels.queues));
    } finally {
      await this.close();
    }
  }
}
