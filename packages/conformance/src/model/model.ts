import type { Claim, JobState, NewJob, QueueStats } from '@q/core';
import type { Given, ModelFailure, ModelJob, Request, Stored, Taken } from './model-types.js';
import { endOf, secondOf } from './time.js';

const ROUNDS = 5;
const UNDECODABLE = 'Payload is not valid JSON, so no handler could be given it';

/**
 * The whole contract for callers that come one after the other, on one page: what docs/protocol.md tells, as a program
 * that keeps jobs in a set. Nothing in it is taken from a driver or from driver-kit.
 */
export class Model {
  readonly jobs = new Set<ModelJob>();
  /** Oldest first. */
  readonly failures: ModelFailure[] = [];
  readonly #clock: () => Date;
  readonly #exactOrder: boolean;

  /** Without `exactOrder` the jobs of one priority may be taken in any order. */
  constructor(clock: () => Date, exactOrder: boolean) {
    this.#clock = clock;
    this.#exactOrder = exactOrder;
  }

  get now(): number {
    return secondOf(this.#clock());
  }

  after(seconds: number): number {
    return endOf(this.#clock(), seconds);
  }

  stateOf({ availableAt, reservedUntil }: ModelJob): JobState['state'] {
    if (reservedUntil !== null && reservedUntil > this.now) return 'reserved';
    if (availableAt > this.now) return 'delayed';
    return reservedUntil === null ? 'pending' : 'expired';
  }

  /** Could be reserved right now: due, and not held by a live claim. */
  isPending(job: ModelJob): boolean {
    return ['pending', 'expired'].includes(this.stateOf(job));
  }

  /** The job that is stored, or the one that holds the key, on which nothing changes. */
  push(id: number, { payload, delay, ...job }: NewJob): ModelJob {
    const unique = job.unique === '' ? null : job.unique;
    const holder = unique === null ? undefined : [...this.jobs].find((other) => other.unique === unique);
    return holder ?? this.#store(id, { ...job, unique, payloadJson: JSON.stringify(payload), delay });
  }

  /** The first job that can be taken: queue by queue, then by the order within a queue. Broken payloads are failed. */
  reserve(request: Request, given: Given): Taken | null {
    for (const queue of request.queues) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const job = this.#next(queue, given);
        if (job === undefined) break;
        const reclaimed = job.reservedUntil !== null;
        if (reclaimed && !request.mayTakeOver) return null;
        job.attempts += 1;
        job.reservedUntil = this.after(request.timeout);
        job.reservedBy = request.worker;
        if (isDecodable(job)) return { job, reclaimed };
        this.#fail(job, UNDECODABLE);
      }
    }
    return null;
  }

  /** As `limit` reserves would, but a job taken over comes alone: the batch ends before it, or is it. */
  reserveMany(limit: number, request: Request, given: Given): Taken[] {
    const batch: Taken[] = [];
    while (batch.length < Math.max(1, limit) && batch.at(-1)?.reclaimed !== true) {
      const taken = this.reserve({ ...request, mayTakeOver: batch.length === 0 }, given);
      if (taken === null) break;
      batch.push(taken);
    }
    return batch;
  }

  /** The fence: the job of this claim, while nobody has released, finished or taken it over. */
  heldBy({ id, attempts }: Claim): ModelJob | undefined {
    return [...this.jobs].find((job) => job.id === id && job.attempts === attempts && job.reservedUntil !== null);
  }

  delete(claim: Claim): boolean {
    return this.#act(claim, (job) => this.jobs.delete(job));
  }

  release(claim: Claim, delay: number, error: string): boolean {
    const changes = { reservedUntil: null, reservedBy: null, availableAt: this.after(delay), lastError: error };
    return this.#act(claim, (job) => Object.assign(job, changes));
  }

  fail(claim: Claim, error: string): boolean {
    return this.#act(claim, (job) => this.#fail(job, error));
  }

  extend(claim: Claim, timeout: number): boolean {
    return this.#act(claim, (job) => Object.assign(job, { reservedUntil: this.after(timeout) }));
  }

  /** Starts over: nothing but queue, name and payload survives. */
  retry(failure: ModelFailure, maxAttempts: number): void {
    const { queue, name, payloadJson } = failure;
    this.#store(null, { queue, name, payloadJson, maxAttempts, priority: 0, unique: null, delay: 0 });
    this.forget(failure);
  }

  forget(failure: ModelFailure): void {
    this.failures.splice(this.failures.indexOf(failure), 1);
  }

  pending(queue: string | null): number {
    return this.#count((job) => this.isPending(job) && (queue === null || job.queue === queue));
  }

  stats(): QueueStats[] {
    return [...new Set([...this.jobs].map(({ queue }) => queue))].sort().map((queue) => ({
      queue,
      pending: this.pending(queue),
      delayed: this.#count((job) => job.queue === queue && job.availableAt > this.now),
      reserved: this.#count((job) => job.queue === queue && this.stateOf(job) === 'reserved'),
      total: this.#count((job) => job.queue === queue),
    }));
  }

  /** How many jobs of its queue would be reserved before it. */
  ahead(job: ModelJob): number {
    if (!this.isPending(job)) return 0;
    return this.#count((other) => other.queue === job.queue && this.isPending(other) && this.#goesBefore(other, job));
  }

  /** A row of another hand: no key, and nothing of it was checked. */
  insert(id: number, row: Pick<ModelJob, 'queue' | 'name' | 'payloadJson' | 'priority'>): ModelJob {
    return this.#store(id, { ...row, unique: null, maxAttempts: 3, delay: 0 });
  }

  #store(id: number | null, { delay, maxAttempts, ...job }: Stored): ModelJob {
    const stored: ModelJob = {
      ...job,
      id,
      attempts: 0,
      maxAttempts: Math.max(1, maxAttempts),
      availableAt: this.after(delay),
      reservedUntil: null,
      reservedBy: null,
      lastError: '',
      createdAt: this.now,
    };
    this.jobs.add(stored);
    return stored;
  }

  /** The first job of a queue. Where several may be, the one that was given, then one that has to come alone. */
  #next(queue: string, given: Given): ModelJob | undefined {
    const pending = [...this.jobs].filter((job) => job.queue === queue && this.isPending(job));
    const first = pending.filter((job) => !pending.some((other) => this.#goesBefore(other, job)));
    const chosen = given.find((payloadJson) => first.some((job) => job.payloadJson === payloadJson));
    return (
      first.find((job) => job.payloadJson === chosen) ?? first.find((job) => job.reservedUntil !== null) ?? first[0]
    );
  }

  /** Highest priority, then earliest due, then lowest id. */
  #goesBefore(a: ModelJob, b: ModelJob): boolean {
    if (a.priority !== b.priority || !this.#exactOrder) return a.priority > b.priority;
    if (a.availableAt !== b.availableAt) return a.availableAt < b.availableAt;
    return a.id !== null && b.id !== null && a.id < b.id;
  }

  #fail(job: ModelJob, error: string): void {
    const { queue, name, payloadJson, attempts } = job;
    this.failures.push({ id: null, queue, name, payloadJson, attempts, error, failedAt: this.now });
    this.jobs.delete(job);
  }

  #act(claim: Claim, change: (job: ModelJob) => unknown): boolean {
    const job = this.heldBy(claim);
    if (job !== undefined) change(job);
    return job !== undefined;
  }

  #count(isCounted: (job: ModelJob) => boolean): number {
    return [...this.jobs].filter(isCounted).length;
  }
}

/** Whether a payload is an object or an array: what a handler could be given. */
export function isDecodable({ payloadJson }: { readonly payloadJson: string }): boolean {
  try {
    return JSON.parse(payloadJson) instanceof Object;
  } catch {
    return false;
  }
}
