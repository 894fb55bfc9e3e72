import { backoffDelay } from '../backoff.js';
import type { ReservedJob } from '../driver.js';
import { errorDetail, PlainFailure } from '../error-detail.js';
import { QueueError } from '../errors.js';
import { type Attempt, jobRef } from './attempt.js';
import type { Clock } from './clock.js';
import type { Claimed, DriverCalls, ReserveRequest } from './driver-calls.js';
import type { Emit } from './emitter.js';
import { nextTurn } from './next-turn.js';
import type { WorkSource } from './options.js';
import type { Outcome } from './run-job.js';

/** What a job comes to beyond what its handler did. */
export type Ending =
  | Outcome
  | { readonly type: 'poison' }
  | { readonly type: 'put_back' }
  | { readonly type: 'delivered_again' };

const POISON = 'The worker running the last attempt died or lost its claim';
const PUT_BACK = 'The worker left before the job was done';

// The third failure in a row of a write that carries an error text may be the text's fault; mostly it is not.
const TRIES_WITH_TEXT = 2;
const UNSTORABLE = 'The error could not be stored';
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

// Deletions wait for those under way, to go together; not for a call that may never be answered.
const LONGEST_HOLD_MS = 100;

export interface RecorderOptions {
  readonly source: WorkSource;
  readonly calls: DriverCalls;
  readonly clock: Clock;
  readonly claimMs: number;
  readonly emit: Emit;
  readonly refill: Refill;
}

/** Claims that are made in the call that deletes. */
export interface Refill {
  /** What to claim when these jobs have left; null: nothing. It counts as under way until `end`. */
  begin(leaving: ReadonlySet<Attempt>): ReserveRequest | null;
  /** Jobs that came too late, or beyond what was asked for. */
  putBack(jobs: readonly ReservedJob[]): void;
  /** The end of what `begin` asked for, and what came of it. */
  end(request: ReserveRequest, claimed: readonly Claimed[]): void;
}

type Write = {
  readonly outcome: 'done' | 'released' | 'retried' | 'failed';
  /** True: it acted. */
  readonly send: () => Promise<boolean>;
  /** The same with a constant in place of the error's text; null where there is no text. */
  readonly sendWithoutText: (() => Promise<boolean>) | null;
  /** Tells that it was written. */
  readonly tell: () => void;
};

interface Deletion {
  readonly attempt: Attempt;
  readonly write: Write;
  /** True: answered, and told. False: the call failed, and may have taken effect. */
  readonly settled: (isAnswered: boolean) => void;
}

/**
 * Writes how jobs ended. A write that fails is tried again while the claim lasts, and then reported; it never throws.
 * Deletions that are ready in the same turn of the event loop, or while others are under way, go together.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #ready: Deletion[] = [];
  #isFlushing = false;
  #isClosed = false;
  /** What is being written, and how to wake it from the pause before another try. */
  readonly #writing = new Map<Attempt, { readonly write: Write; wake: () => void }>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Resolves when the outcome is written, was refused by the fence, or had to be given up. */
  async record(attempt: Attempt, ending: Ending): Promise<void> {
    const write = this.#plan(attempt, ending);
    this.#writing.set(attempt, { write, wake: () => {} });
    if (ending.type === 'done') {
      if (!(await this.#deleteTogether(attempt, write))) await this.#write(attempt, write, 1);
    } else {
      // As a deletion does: a job that comes back at once, on a store that answers at once, would else keep timers and
      // signals out for ever.
      await nextTurn();
      await this.#write(attempt, write, 0);
    }
  }

  /** The worker is about to leave: what waits before another try is tried now. */
  hasten(): void {
    for (const { wake } of this.#writing.values()) wake();
  }

  /** The worker leaves now: what is not written by then is reported, and not tried again. */
  close(): void {
    this.#isClosed = true;
    const error = new QueueError('call_timeout', 'The worker left before the store had answered');
    for (const [attempt, { write, wake }] of this.#writing) {
      this.#options.emit('job_unrecorded', { job: jobRef(attempt), outcome: write.outcome, error });
      wake();
    }
  }

  #plan(attempt: Attempt, ending: Ending): Write {
    const { calls, clock, emit } = this.#options;
    const job = jobRef(attempt);
    const elapsedMs = clock.monotonicMs() - attempt.startedMs;
    const done = () => emit('job_done', { job, elapsedMs });
    switch (ending.type) {
      case 'done':
        return { outcome: 'done', send: () => calls.delete(attempt.job), sendWithoutText: null, tell: done };
      case 'released':
        return this.#release(attempt, ending.delay, '', () =>
          emit('job_released', { job, delay: ending.delay, why: 'handler' }),
        );
      case 'put_back':
        return this.#release(attempt, 0, PUT_BACK, () => emit('job_released', { job, delay: 0, why: 'shutdown' }));
      case 'delivered_again':
        return this.#release(attempt, 0, '', () => emit('job_released', { job, delay: 0, why: 'chaos' }));
      case 'poison':
        return this.#fail(attempt, new PlainFailure(POISON), POISON, 0);
      default:
        return this.#thrown(attempt, ending.error, elapsedMs);
    }
  }

  #thrown(attempt: Attempt, error: unknown, elapsedMs: number): Write {
    const detail = errorDetail(error);
    if (attempt.job.isLastAttempt()) return this.#fail(attempt, error, detail, elapsedMs);
    const delay = this.#backoff(attempt);
    const tell = () => this.#options.emit('job_retried', { job: jobRef(attempt), delay, error, elapsedMs });
    return { ...this.#release(attempt, delay, detail, tell), outcome: 'retried' };
  }

  #release(attempt: Attempt, delay: number, detail: string, tell: () => void): Write {
    const send = (text: string) => this.#options.calls.release(attempt.job, delay, text);
    const sendWithoutText = detail === '' ? null : () => send(UNSTORABLE);
    return { outcome: 'released', send: () => send(detail), sendWithoutText, tell };
  }

  #fail(attempt: Attempt, error: unknown, detail: string, elapsedMs: number): Write {
    const send = (text: string) => this.#options.calls.fail(attempt.job, text);
    const tell = () => this.#options.emit('job_failed', { job: jobRef(attempt), error, elapsedMs });
    return { outcome: 'failed', send: () => send(detail), sendWithoutText: () => send(UNSTORABLE), tell };
  }

  #backoff(attempt: Attempt): number {
    const { source, emit } = this.#options;
    const { attempts } = attempt.job;
    const onInvalid = (error: unknown) => emit('backoff_invalid', { job: jobRef(attempt), error });
    // Whatever stands in for a Queue may give nonsense too.
    return backoffDelay((attempt) => source.backoff(attempt, onInvalid), attempts, onInvalid);
  }

  /** Sends a write until it is answered or the claim, as it stands and as long as it is renewed, has surely ended. */
  async #write(attempt: Attempt, write: Write, failures: number): Promise<void> {
    const { clock, claimMs, emit } = this.#options;
    const giveUpMs = clock.monotonicMs() + claimMs;
    for (let tries = failures; ; tries += 1) {
      if (tries > 0) await this.#pause(attempt, tries);
      if (this.#isClosed) return;
      try {
        const acted = await this.#send(write, tries);
        // A repeated write that finds nothing was the first one's doing: its answer was lost, not the claim.
        return this.#tell(attempt, write, acted || (tries > 0 && !attempt.job.isCompleting));
      } catch (error) {
        if (this.#isClosed) return;
        emit('record_failed', { job: jobRef(attempt), error, tries: tries + 1 });
        const endsMs = Math.min(attempt.claimEndsMs, giveUpMs);
        if (clock.monotonicMs() >= endsMs) {
          this.#writing.delete(attempt);
          return emit('job_unrecorded', { job: jobRef(attempt), outcome: write.outcome, error });
        }
      }
    }
  }

  async #send(write: Write, tries: number): Promise<boolean> {
    try {
      return await write.send();
    } catch (error) {
      // Never instead of the text: where the store was only away, it is stored once that is back.
      if (tries < TRIES_WITH_TEXT || write.sendWithoutText === null || this.#isClosed) throw error;
      return write.sendWithoutText();
    }
  }

  async #pause(attempt: Attempt, tries: number): Promise<void> {
    const ms = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS);
    const entry = this.#writing.get(attempt);
    if (this.#isClosed || entry === undefined) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      entry.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #tell(attempt: Attempt, write: Write, acted: boolean): void {
    if (this.#isClosed) return; // reported by then as not recorded
    this.#writing.delete(attempt);
    const { clock, emit } = this.#options;
    const job = jobRef(attempt);
    if (acted) write.tell();
    else if (attempt.job.isCompleting) {
      // `complete` went through, or is still under way in a handler that was given up: its transaction has committed.
      emit('job_done', { job, elapsedMs: clock.monotonicMs() - attempt.startedMs });
    } else {
      emit('claim_lost', { job, outcome: write.outcome, eventLoopDelayMs: attempt.eventLoopDelayMs });
    }
  }

  /** Resolves as `Deletion` says. */
  #deleteTogether(attempt: Attempt, write: Write): Promise<boolean> {
    return new Promise((settled) => {
      this.#ready.push({ attempt, write, settled });
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      // After the timers and answers of this turn: what becomes ready together goes together.
      void nextTurn().then(() => this.#flush());
    });
  }

  async #flush(): Promise<void> {
    while (this.#ready.length > 0) {
      const batch = this.#ready;
      this.#ready = [];
      await new Promise<void>((resolve) => {
        const cancel = this.#options.clock.after(LONGEST_HOLD_MS, resolve);
        void this.#delete(batch).then(() => {
          cancel();
          resolve();
        });
      });
      // Those claimed by the call may be done by now: on a store that answers at once they would keep timers out for ever.
      if (this.#ready.length > 0) await nextTurn();
    }
    this.#isFlushing = false;
  }

  /** Deletes, and claims what takes their place where the driver does both in one call. */
  async #delete(batch: readonly Deletion[]): Promise<void> {
    const { calls, emit, refill } = this.#options;
    const claims = batch.map(({ attempt }) => attempt.job);
    const request = calls.turnsOver ? refill.begin(new Set(batch.map(({ attempt }) => attempt))) : null;
    let claimed: readonly Claimed[] = [];
    try {
      const turnover =
        request === null
          ? { lost: await calls.deleteMany(claims), claimed }
          : await calls.deleteAndReserve(claims, request, (jobs) => refill.putBack(jobs));
      const lostIds = new Set(turnover.lost.map(({ id }) => id));
      // Told before those that take their place are started.
      for (const { attempt, write } of batch) this.#tell(attempt, write, !lostIds.has(attempt.job.id));
      for (const { settled } of batch) settled(true);
      claimed = turnover.claimed;
    } catch (error) {
      for (const { attempt, settled } of batch) {
        if (!this.#isClosed) emit('record_failed', { job: jobRef(attempt), error, tries: 1 });
        settled(false);
      }
    } finally {
      if (request !== null) refill.end(request, claimed);
    }
  }
}
