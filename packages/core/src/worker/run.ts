import { hasWakeups } from '../abilities.js';
import type { ReservedJob } from '../driver.js';
import type { StopReason } from '../events.js';
import { Bell } from './bell.js';
import { type Claimed, DriverCalls, type ReserveRequest } from './driver-calls.js';
import type { Emit } from './emitter.js';
import { JobsInHand } from './jobs-in-hand.js';
import { nextTurn } from './next-turn.js';
import type { SettledOptions } from './options.js';
import type { Refill } from './recorder.js';
import { RunClock } from './run-clock.js';

// Waits between failing reserves: `sleep` x 1, 2, 4, 8, and 8 from there on. A wakeup cuts them short, to no less than the
// same steps of a second: it says that the store is back, or that others can push while this worker cannot read.
const LONGEST_PATIENCE = 3;
const SHORTEST_WAIT_MS = 1_000;

// How long a worker that leaves in a hurry waits for the store to take its jobs back.
const LEAVE_MS = 800;

// How long a run that is over waits for its subscription to wakeups to be closed.
const UNSUBSCRIBE_MS = 500;

/** What one look at the store found. `isEmpty`: nothing is left, and that is a reason to end. */
interface Look {
  readonly claimed: readonly Claimed[];
  readonly isEmpty: boolean;
}

/** One run of a worker: reserve, run, record, until it is asked to stop or a limit is reached. Nothing outlives it. */
export class Run {
  readonly #options: SettledOptions;
  readonly #clock: RunClock;
  readonly #emit: Emit;
  readonly #calls: DriverCalls;
  readonly #jobs: JobsInHand;
  /** Rung by whatever may make another claim possible: a wakeup, a freed slot, a stop. */
  readonly #attention: Bell;
  /** Rung by a stop alone. */
  readonly #stopBell: Bell;
  /** Rung by a wakeup, and by a stop. */
  readonly #wakeBell: Bell;
  readonly #startedMs: number;
  #hurry: () => void = () => {};
  readonly #hurried: Promise<void>;
  #shutdown: { readonly dueMs: number; readonly cancel: () => void } | null = null;
  #isLeaving = false;
  /** From the first look to the reason to stop. */
  #isServing = false;
  #isStopAsked = false;
  #isStoppingTold = false;
  #isOver = false;
  #reserveFailures = 0;
  /** How many slots claims are under way for. */
  #claiming = 0;

  constructor(options: SettledOptions, emit: Emit) {
    const clock = new RunClock(options.clock);
    this.#options = options;
    this.#clock = clock;
    this.#emit = emit;
    this.#calls = new DriverCalls(options.source.driver, clock, options.driverTimeoutMs);
    this.#attention = new Bell(clock);
    this.#stopBell = new Bell(clock);
    this.#wakeBell = new Bell(clock);
    this.#startedMs = clock.monotonicMs();
    this.#jobs = new JobsInHand({ ...options, clock }, this.#calls, emit, this.#refill(), () => this.#attention.ring());
    this.#hurried = new Promise((resolve) => {
      this.#hurry = resolve;
    });
  }

  /** Runs to its end and resolves to the process's exit code. Never rejects. */
  async execute(): Promise<0 | 1> {
    const { id, queues } = this.#options;
    await null; // the worker knows of this run before a listener of its first event can ask for its end
    this.#emit('started', { worker: id, queues });
    const unsubscribe = this.#subscribe();
    const work = this.#work();
    const exitCode = await Promise.race([work, this.#hurried.then(() => this.#leave(work))]);
    this.#isOver = true;
    this.#shutdown?.cancel();
    await unsubscribe();
    this.#clock.end();
    this.#emit('ended', { ran: this.#jobs.ran, exitCode });
    return exitCode;
  }

  /** At most one job. Rejects where the reserve fails. */
  async one(): Promise<boolean> {
    try {
      const [claimed] = await this.#claim(1);
      if (claimed === undefined) return false;
      this.#jobs.take(claimed);
      while (this.#jobs.size > 0) await this.#attention.wait();
      return true;
    } finally {
      this.#clock.end();
    }
  }

  /** Takes nothing more and ends when what is in hand is done, or, `timeoutMs` (if not 0) from now, as `hurry` does. */
  stop(timeoutMs: number): void {
    this.#isStopAsked = true;
    this.#attention.ring();
    this.#stopBell.ring();
    this.#wakeBell.ring();
    if (timeoutMs === 0 || this.#isOver) return;
    const dueMs = this.#clock.monotonicMs() + timeoutMs;
    if (this.#shutdown !== null && this.#shutdown.dueMs <= dueMs) return;
    this.#shutdown?.cancel();
    this.#shutdown = { dueMs, cancel: this.#clock.after(timeoutMs, this.#hurry) };
  }

  /** Puts back what is in hand and ends at once. */
  hurry(): void {
    this.stop(0);
    this.#hurry();
  }

  async #work(): Promise<0 | 1> {
    this.#isServing = true;
    const reason = await this.#serve();
    this.#isServing = false;
    if (reason !== null) this.#tellStopping(reason);
    while (this.#jobs.size > 0) await this.#attention.wait();
    return reason?.why === 'unreadable' || reason?.why === 'abandoned' ? 1 : 0;
  }

  async #leave(work: Promise<0 | 1>): Promise<0 | 1> {
    this.#isLeaving = true;
    this.#tellStopping({ why: 'asked' }); // unless told by now: a look that is never answered would keep it untold
    this.#jobs.putBackAll();
    let cancel = () => {};
    const late = new Promise<0>((resolve) => {
      cancel = this.#clock.after(LEAVE_MS, () => resolve(0));
    });
    const exitCode = await Promise.race([work, late]);
    cancel();
    this.#jobs.close();
    return exitCode;
  }

  #tellStopping(reason: StopReason): void {
    if (this.#isStoppingTold || this.#isOver) return;
    this.#isStoppingTold = true;
    this.#emit('stopping', { reason });
  }

  /** Takes and runs jobs until there is a reason to stop; null: nothing is left to do. */
  async #serve(): Promise<StopReason | null> {
    for (;;) {
      if (this.#isStopAsked) return { why: 'asked' };
      const free = this.#jobs.free - this.#claiming;
      if (free <= 0 && this.#jobs.size > 0) {
        await this.#attention.wait();
        continue;
      }
      const limit = this.#limitReached();
      if (limit !== null) return limit;
      this.#attention.hush();
      this.#wakeBell.hush();
      const look = await this.#look(free);
      if (look === null) continue;
      await this.#take(look.claimed);
      if (look.claimed.length > 0) continue;
      if (look.isEmpty && !this.#isStopAsked) {
        this.#emit('empty', { queues: this.#options.queues });
        return null;
      }
      await nextTurn(); // a store whose every look wakes this worker again would else keep timers and signals out
      await this.#attention.wait(this.#untilMaxTime(this.#options.sleepMs));
    }
  }

  #limitReached(): StopReason | null {
    const { maxJobs, maxTimeMs, memoryLimitMb, maxAbandoned, maxReserveFailures } = this.#options;
    const { ran, abandoned } = this.#jobs;
    if (abandoned >= maxAbandoned) return { why: 'abandoned', handlers: abandoned };
    if (maxReserveFailures > 0 && this.#reserveFailures >= maxReserveFailures) {
      return { why: 'unreadable', failures: this.#reserveFailures };
    }
    if (maxJobs > 0 && ran >= maxJobs) return { why: 'max_jobs', ran };
    const elapsedMs = this.#clock.monotonicMs() - this.#startedMs;
    if (maxTimeMs > 0 && elapsedMs >= maxTimeMs) return { why: 'max_time', seconds: Math.floor(elapsedMs / 1000) };
    if (memoryLimitMb === 0) return null;
    const megabytes = Math.floor(process.memoryUsage.rss() / 2 ** 20);
    return megabytes > memoryLimitMb ? { why: 'memory', megabytes } : null;
  }

  /** A wait never goes past the end of `maxTime`. */
  #untilMaxTime(ms: number): number {
    const { maxTimeMs } = this.#options;
    if (maxTimeMs === 0) return ms;
    return Math.min(ms, Math.max(0, this.#startedMs + maxTimeMs - this.#clock.monotonicMs()));
  }

  /** What the store has for free slots. Null: it could not be read, which was told and waited for. */
  async #look(limit: number): Promise<Look | null> {
    try {
      const claimed = await this.#claim(limit);
      const isEmpty = claimed.length === 0 && (await this.#isEmpty());
      this.#reserveFailures = 0;
      return { claimed, isEmpty };
    } catch (error) {
      await this.#unreadable(error);
      return null;
    }
  }

  async #claim(limit: number): Promise<Claimed[]> {
    this.#claiming += limit;
    try {
      return await this.#calls.reserve(this.#request(limit), (unwanted) => void this.#putBack(unwanted));
    } finally {
      this.#claiming -= limit;
    }
  }

  #request(limit: number): ReserveRequest {
    const { queues, claimSeconds, id } = this.#options;
    return { queues, limit, seconds: claimSeconds, worker: id };
  }

  async #take(claimed: readonly Claimed[]): Promise<void> {
    if (this.#isLeaving) await this.#putBack(claimed.map(({ job }) => job));
    else for (const each of claimed) this.#jobs.take(each);
  }

  /** Claims in the place of jobs that leave, under the same conditions as those that `#serve` makes. */
  #refill(): Refill {
    return {
      begin: (leaving) => {
        if (!this.#isServing || this.#isStopAsked || this.#limitReached() !== null) return null;
        const limit = this.#jobs.freeWithout(leaving) - this.#claiming;
        if (limit <= 0) return null;
        this.#claiming += limit;
        return this.#request(limit);
      },
      putBack: (jobs) => void this.#putBack(jobs),
      end: ({ limit }, claimed) => {
        this.#claiming -= limit;
        if (claimed.length > 0) this.#reserveFailures = 0;
        void this.#take(claimed);
      },
    };
  }

  async #isEmpty(): Promise<boolean> {
    const { stopWhenEmpty, queues } = this.#options;
    if (!stopWhenEmpty || this.#isStopAsked || this.#jobs.size > 0) return false;
    return (await this.#calls.pending(queues)) === 0;
  }

  /** Every failure to read the queue counts, and is followed by a longer wait. */
  async #unreadable(error: unknown): Promise<void> {
    const { maxReserveFailures, sleepMs } = this.#options;
    this.#reserveFailures += 1;
    if (!this.#isOver) this.#emit('reserve_failed', { error, failures: this.#reserveFailures });
    if (this.#reserveFailures === maxReserveFailures || this.#isStopAsked) return;
    const step = 2 ** Math.min(this.#reserveFailures - 1, LONGEST_PATIENCE);
    const waitMs = sleepMs * step;
    const firmMs = Math.min(waitMs, SHORTEST_WAIT_MS * step);
    await this.#stopBell.wait(this.#untilMaxTime(firmMs));
    if (waitMs > firmMs) await this.#wakeBell.wait(this.#untilMaxTime(waitMs - firmMs));
  }

  /** Jobs that came too late, or beyond what was asked for: nobody runs them, so they go back, or their claims expire. */
  async #putBack(jobs: readonly ReservedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const refs = jobs.map(({ id, queue, name, attempts, maxAttempts }) => ({ id, queue, name, attempts, maxAttempts }));
    this.#emit('reserve_late', { jobs: refs });
    await Promise.allSettled(jobs.map((job) => this.#calls.release(job, 0, '')));
  }

  /** Starts listening for wakeups, in the background: they are a hint, and nothing waits for one. */
  #subscribe(): () => Promise<void> {
    const { source, queues } = this.#options;
    const { driver } = source;
    if (!hasWakeups(driver)) return async () => {};
    const wake = () => {
      this.#attention.ring();
      this.#wakeBell.ring();
    };
    const subscribed = (async () => driver.onPush(queues, wake))();
    // What was pushed before the subscription stood has woken nobody: one look makes up for it.
    const look = () => this.#attention.ring();
    subscribed.then(look, (error: unknown) => {
      if (!this.#isOver) this.#emit('wakeups_failed', { error });
    });
    return () =>
      new Promise<void>((resolve) => {
        const cancel = this.#clock.after(UNSUBSCRIBE_MS, resolve);
        const done = () => {
          cancel();
          resolve();
        };
        subscribed.then((subscription) => subscription[Symbol.asyncDispose]()).then(done, done);
      });
  }
}
