import { JobAborted } from '../errors.js';
import type { Attempt } from './attempt.js';
import type { Clock } from './clock.js';
import type { DriverCalls } from './driver-calls.js';

export interface LeaseOptions {
  readonly calls: DriverCalls;
  readonly clock: Clock;
  readonly seconds: number;
  /** False on a driver without leases: claims are only watched. */
  readonly renews: boolean;
  readonly onError: (attempts: readonly Attempt[], error: unknown) => void;
}

/**
 * Keeps the claims of all jobs in hand alive: one timer for all of them, which renews at a third of the lease, and
 * notices, by the monotonic clock, that a claim has run out (the event loop was blocked, the process was stopped).
 */
export class Leases {
  readonly #options: LeaseOptions;
  readonly #held = new Set<Attempt>();
  readonly #periodMs: number;
  #cancel: (() => void) | null = null;
  #dueMs = 0;
  #renewedMs = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#periodMs = (options.seconds * 1000) / 3;
  }

  add(attempt: Attempt): void {
    // A claim that was long on its way is renewed that much sooner.
    const madeMs = attempt.claimEndsMs - this.#options.seconds * 1000;
    this.#renewedMs = this.#held.size === 0 ? madeMs : Math.min(this.#renewedMs, madeMs);
    this.#held.add(attempt);
    if (this.#cancel === null || this.#renewedMs + this.#periodMs < this.#dueMs) this.#schedule();
  }

  remove(attempt: Attempt): void {
    this.#held.delete(attempt);
    if (this.#held.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Notes how late the timer is: when a handler that blocked the loop returns, it has not fired yet. */
  observe(attempt: Attempt): void {
    const lateMs = this.#cancel === null ? 0 : this.#options.clock.monotonicMs() - this.#dueMs;
    attempt.eventLoopDelayMs = Math.max(attempt.eventLoopDelayMs, lateMs);
  }

  #schedule(): void {
    const nowMs = this.#options.clock.monotonicMs();
    let dueMs = this.#renewedMs + this.#periodMs;
    for (const { claimEndsMs } of this.#held) if (claimEndsMs > nowMs) dueMs = Math.min(dueMs, claimEndsMs);
    this.#dueMs = Math.max(nowMs, dueMs);
    this.#cancel?.();
    this.#cancel = this.#options.clock.after(this.#dueMs - nowMs, () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const attempt of this.#held) {
      this.observe(attempt);
      if (nowMs >= attempt.claimEndsMs) this.#expire(attempt);
    }
    if (nowMs >= this.#renewedMs + this.#periodMs) {
      this.#renewedMs = nowMs;
      if (this.#options.renews) this.#renewAll(nowMs);
    }
    this.#schedule();
  }

  #renewAll(nowMs: number): void {
    const attempts = [...this.#held].filter((attempt) => !attempt.isLost && !attempt.job.isCompleting);
    if (attempts.length === 0) return;
    const together = this.#options.calls.renewsTogether ? [attempts] : attempts.map((attempt) => [attempt]);
    for (const each of together) void this.#renew(each, nowMs);
  }

  async #renew(attempts: readonly Attempt[], nowMs: number): Promise<void> {
    const { calls, seconds, onError } = this.#options;
    const byClaim = new Map(attempts.map((attempt) => [attempt.job, attempt]));
    try {
      const lost = await calls.extendMany([...byClaim.keys()], seconds, this.#periodMs);
      for (const attempt of attempts) attempt.claimEndsMs = nowMs + seconds * 1000;
      for (const claim of lost) {
        const isIt = ({ job }: Attempt) => job.id === claim.id && job.attempts === claim.attempts;
        const attempt = byClaim.get(claim) ?? attempts.find(isIt);
        // One that completed, or whose outcome was written, while the call was under way has no claim to lose.
        if (attempt === undefined || attempt.isSettled || attempt.job.isCompleting) continue;
        attempt.isLost = true;
        this.#expire(attempt);
      }
    } catch (error) {
      onError(attempts, error);
    }
  }

  #expire({ job }: Attempt): void {
    if (job.isCompleting) return;
    job.abort(new JobAborted('claim_lost', 'The claim on the job ran out; another worker may be running it'));
  }
}
