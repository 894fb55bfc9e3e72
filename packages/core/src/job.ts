import type { Payload, ReservedJob } from './driver.js';
import { type JobAborted, QueueError } from './errors.js';
import { checkDelay } from './limits.js';

/**
 * One attempt at a job, as its handler sees it. `Tx` names the transaction the job can be completed in; a handler that
 * does not say which (`never`) cannot call `complete`.
 */
export interface Job<P, Tx = never> {
  readonly id: number;
  readonly queue: string;
  /** As it was pushed, whatever class it resolved to. */
  readonly name: string;
  /** The very value the handler is given. */
  readonly payload: P;
  /** The stored text. */
  readonly payloadJson: string;
  /** Which attempt this is: the first run reads 1. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Private to the driver. */
  readonly handle: string;
  /** Taken over from a worker that died or lost its claim: something of this job may have happened already. */
  readonly reclaimed: boolean;
  /**
   * Aborted when the handler should give up: its `reason` is a `JobAborted` whose `code` is `timeout` (past the worker's
   * `timeout`; there are `grace` seconds to settle), `shutdown` (the worker leaves now and has put the job back) or
   * `claim_lost` (the claim ran out: another worker may be running the job).
   */
  readonly signal: AbortSignal;
  /**
   * Asks for the job to be put back for `delay` seconds instead of being done; the worker does so when the handler has
   * returned. The last call counts. Not a failure: never compared with `maxAttempts`. A handler that releases and then
   * throws has thrown. After `complete`: a `QueueError` (`job_settled`).
   */
  release(delay: number): void;
  wasReleased(): boolean;
  /** Whether a failure of this attempt is final. */
  isLastAttempt(): boolean;
  /**
   * Deletes the job on the caller's own transaction, so that it is done exactly when that commits. Throws `ClaimLost`
   * where the claim is gone, so that the transaction rolls back, whatever else is in it. Twice: nothing happens the
   * second time. After `release`: a `QueueError` (`job_settled`). Above READ COMMITTED call it first in the transaction.
   */
  readonly complete: (tx: Tx) => Promise<void>;
}

/** What a handler did beyond returning, noted until the worker writes it. */
export interface Wishes {
  readonly releaseDelay: number | null;
  readonly completed: boolean;
}

/** The worker's side of a job in hand. The eight fields of a claim are its only own enumerable properties. */
export class JobInHand implements Job<Payload, unknown> {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payload: Payload;
  readonly payloadJson: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly handle: string;
  readonly #reclaimed: boolean;
  readonly #deleteWithin: (tx: unknown) => Promise<void>;
  #releaseDelay: number | null = null;
  #completing: Promise<void> | null = null;
  #completed = false;
  #controller: AbortController | null = null;
  #abortedFor: JobAborted | null = null;

  constructor(reserved: ReservedJob, deleteWithin: (tx: unknown) => Promise<void>) {
    this.id = reserved.id;
    this.queue = reserved.queue;
    this.name = reserved.name;
    this.payload = reserved.payload;
    this.payloadJson = reserved.payloadJson;
    this.attempts = reserved.attempts;
    this.maxAttempts = reserved.maxAttempts;
    this.handle = reserved.handle;
    this.#reclaimed = reserved.reclaimed;
    this.#deleteWithin = deleteWithin;
    // The worker settles the claim by these very fields: a handler that could change them could settle another's.
    Object.freeze(this);
  }

  get reclaimed(): boolean {
    return this.#reclaimed;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#abortedFor !== null) this.#controller.abort(this.#abortedFor);
    }
    return this.#controller.signal;
  }

  release(delay: number): void {
    const seconds = checkDelay(delay);
    if (this.#completing !== null) throw this.#settled('released after it was completed');
    this.#releaseDelay = seconds;
  }

  wasReleased(): boolean {
    return this.#releaseDelay !== null;
  }

  isLastAttempt(): boolean {
    return this.attempts >= this.maxAttempts;
  }

  get complete(): (tx: unknown) => Promise<void> {
    return (tx) => this.#complete(tx);
  }

  /** For the worker: what is to be written when the handler has settled. */
  get wishes(): Wishes {
    return { releaseDelay: this.#releaseDelay, completed: this.#completed };
  }

  /** For the worker: from the call of `complete` on, its claim is not renewed (the row is locked by the caller). */
  get isCompleting(): boolean {
    return this.#completing !== null;
  }

  /** For the worker: waits for a `complete` that the handler started and did not await. */
  async completionSettled(): Promise<void> {
    await this.#completing?.catch(() => {});
  }

  /** For the worker: tells the handler to give up. The first reason counts. */
  abort(reason: JobAborted): void {
    if (this.#abortedFor !== null) return;
    this.#abortedFor = reason;
    this.#controller?.abort(reason);
  }

  /** For the worker: why the handler was told to give up, if it was. */
  get abortedFor(): JobAborted | null {
    return this.#abortedFor;
  }

  async #complete(tx: unknown): Promise<void> {
    if (this.#releaseDelay !== null) throw this.#settled('completed after it was released');
    if (this.#completing !== null) return this.#completing;
    this.#completing = this.#deleteWithin(tx);
    try {
      await this.#completing;
      this.#completed = true;
    } catch (error) {
      this.#completing = null; // nothing was deleted: the claim goes on, and is renewed again
      throw error;
    }
  }

  #settled(what: string): QueueError {
    return new QueueError(
      'job_settled',
      `Job ${this.id} ("${this.name}") was ${what}. A handler either completes a job in its transaction or puts it back`,
    );
  }
}
