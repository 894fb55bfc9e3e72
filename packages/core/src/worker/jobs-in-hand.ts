import { hasTransactions } from '../abilities.js';
import type { QueueTransactions, ReservedJob } from '../driver.js';
import { ClaimLost, JobAborted, QueueError } from '../errors.js';
import { JobInHand } from '../job.js';
import { type Attempt, jobRef } from './attempt.js';
import { die, troubleAfter } from './chaos.js';
import type { Claimed, DriverCalls } from './driver-calls.js';
import type { Emit } from './emitter.js';
import { Leases } from './leases.js';
import type { SettledOptions } from './options.js';
import { type Ending, Recorder, type Refill } from './recorder.js';
import { runJob } from './run-job.js';

const NONE: ReadonlySet<Attempt> = new Set();

/** The jobs of one run from claim to written outcome: runs them, keeps their claims, and frees their slots. */
export class JobsInHand {
  readonly #options: SettledOptions;
  readonly #emit: Emit;
  readonly #leases: Leases;
  readonly #recorder: Recorder;
  /** Called whenever a slot became free. */
  readonly #onFreed: () => void;
  readonly #attempts = new Set<Attempt>();
  /** Taken over from expired claims, each waiting until it can run alone. */
  readonly #waiting: Attempt[] = [];
  /** How many handlers were started. */
  ran = 0;
  /** How many abandoned handlers are still running. */
  abandoned = 0;

  constructor(options: SettledOptions, calls: DriverCalls, emit: Emit, refill: Refill, onFreed: () => void) {
    const { clock, claimSeconds, renews, source } = options;
    this.#options = options;
    this.#emit = emit;
    this.#onFreed = onFreed;
    const onError = (attempts: readonly Attempt[], error: unknown) =>
      emit('renew_failed', { jobs: attempts.map(jobRef), error });
    this.#leases = new Leases({ calls, clock, seconds: claimSeconds, renews, onError });
    this.#recorder = new Recorder({ source, calls, clock, claimMs: claimSeconds * 1000, emit, refill });
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** How many claims may be made now. None beside a job taken over from an expired claim: it may be a poison job. */
  get free(): number {
    return this.freeWithout(NONE);
  }

  /** How many will be when these have left. */
  freeWithout(leaving: ReadonlySet<Attempt>): number {
    const { concurrency, maxJobs } = this.#options;
    for (const attempt of this.#attempts) if (attempt.job.reclaimed && !leaving.has(attempt)) return 0;
    const free = concurrency - this.#attempts.size + leaving.size;
    // All that are in hand have started, and count: one that waits is taken over from an expired claim.
    const left = maxJobs === 0 ? free : maxJobs - this.ran;
    return Math.max(0, Math.min(free, left));
  }

  take({ job: reserved, claimedAtMs }: Claimed): void {
    const attempt: Attempt = {
      job: new JobInHand(reserved, (tx) => this.#completeWithin(tx, reserved)),
      claimEndsMs: claimedAtMs + this.#options.claimSeconds * 1000,
      isLost: false,
      eventLoopDelayMs: 0,
      startedMs: this.#options.clock.monotonicMs(),
      isSettled: false,
    };
    this.#attempts.add(attempt);
    this.#leases.add(attempt);
    if (reserved.reclaimed && reserved.attempts > reserved.maxAttempts) void this.#settle(attempt, { type: 'poison' });
    else if (reserved.reclaimed) this.#waiting.push(attempt);
    else void this.#run(attempt);
    this.#runAlone();
  }

  /** Tells every handler to give up and puts its job back, without waiting for the handler. */
  putBackAll(): void {
    this.#recorder.hasten();
    const reason = new JobAborted('shutdown', 'The worker is leaving; the job was put back');
    this.#waiting.length = 0;
    for (const attempt of this.#attempts) {
      attempt.job.abort(reason);
      void this.#settle(attempt, { type: 'put_back' });
    }
  }

  /** Gives up what is still not written, and reports it. */
  close(): void {
    this.#recorder.close();
    for (const attempt of this.#attempts) this.#leases.remove(attempt);
  }

  /** The one taken over from an expired claim that is next starts once nothing else is in hand. */
  #runAlone(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#attempts.size > this.#waiting.length) return;
    this.#waiting.shift();
    void this.#run(next);
  }

  async #run(attempt: Attempt): Promise<void> {
    const { source, timeoutMs, graceMs, clock } = this.#options;
    this.ran += 1;
    attempt.startedMs = clock.monotonicMs();
    this.#emit('job_started', { job: jobRef(attempt) });
    const outcome = await runJob(attempt.job, source.handlers, { timeoutMs, graceMs }, clock);
    this.#leases.observe(attempt);
    if (outcome.type === 'timed_out' && !attempt.isSettled) {
      this.abandoned += 1;
      this.#emit('job_abandoned', { job: jobRef(attempt), abandoned: this.abandoned });
      void outcome.settled.then(() => {
        this.abandoned -= 1;
      });
    }
    const trouble = attempt.isSettled ? null : troubleAfter(this.#options.chaos, outcome, attempt.job);
    if (trouble === 'dies') {
      this.#emit('stopping', { reason: { why: 'chaos', job: jobRef(attempt) } });
      await die();
    }
    await this.#settle(attempt, trouble === 'delivered_again' ? { type: trouble } : outcome);
  }

  /** Decides what is written of a job, once: the handler's own end, or the worker's leaving, whichever came first. */
  async #settle(attempt: Attempt, ending: Ending): Promise<void> {
    if (attempt.isSettled) return;
    attempt.isSettled = true;
    await this.#recorder.record(attempt, ending);
    this.#attempts.delete(attempt);
    this.#leases.remove(attempt);
    this.#runAlone();
    this.#onFreed();
  }

  async #completeWithin(tx: unknown, claim: ReservedJob): Promise<void> {
    const { driver, guard } = this.#options.source;
    if (!hasTransactions(driver)) {
      throw new QueueError('ability_missing', 'This driver has no transactions to complete a job in');
    }
    // The cast: which transaction the driver takes is known to the handler's type; the driver checks what it is given.
    const transaction = (driver as QueueTransactions<unknown>).within(tx);
    guard?.enter(transaction);
    if (await transaction.delete(claim)) return;
    throw new ClaimLost(
      `The claim on job ${claim.id} ("${claim.name}", attempt ${claim.attempts}) is gone: roll back, it is another worker's`,
    );
  }
}
