import type { Connection } from './connection.js';

interface Subscription {
  readonly queues: ReadonlySet<string>;
  readonly wake: () => void;
}

interface NewJob {
  readonly id: string;
  readonly queue: string;
}

// New jobs looked at one by one. Where there are more, everybody is woken.
const LIMIT = 100;

// How often it looks while every worker is busy, and after a look that failed: the worker's own calls tell of the error.
const SLOW_MS = 1_000;

/**
 * Who wants to know of pushes. One through this driver is known at once; one by anybody else is found by looking at the
 * table: one cheap query for the whole process, while somebody listens; and hardly ever while every worker is busy, since
 * a worker looks by itself when it has done what it has in hand.
 *
 * The look goes by ids: it finds what is committed above the highest one seen. A transaction that was given its id earlier
 * and commits later than another may go unseen, until the worker polls.
 */
export class Wakeups {
  readonly #connection: Connection;
  readonly #everyMs: number;
  readonly #subscriptions = new Set<Subscription>();
  readonly #pushedTo = new Set<string>();
  /** The workers that found less than they asked for, last time. */
  readonly #waiting = new Set<string>();
  /** Whether any reserve is known of: before the first, whoever listens is taken to wait. */
  #isAnyKnown = false;
  #timer: NodeJS.Timeout | null = null;
  /** When the timer fires, on the monotonic clock. */
  #nextLookMs = 0;
  #isLooking = false;
  #starting: Promise<void> | null = null;
  /** The highest id seen; null: not known yet. */
  #newest: bigint | null = null;

  /** `everyMs` 0: never looks. */
  constructor(connection: Connection, everyMs: number) {
    this.#connection = connection;
    this.#everyMs = everyMs;
  }

  async subscribe(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const subscription = { queues: new Set(queues), wake };
    this.#subscriptions.add(subscription);
    // When this is answered nothing is missed any more: what is pushed later has a higher id.
    if (this.#newest === null && this.#everyMs > 0) {
      this.#starting ??= this.#look().finally(() => {
        this.#starting = null;
      });
      await this.#starting;
    }
    this.#lookLater();
    return { [Symbol.asyncDispose]: async () => this.#end(subscription) };
  }

  /** Somebody pushed through this driver, and it is committed. */
  pushed(queue: string): void {
    if (this.#subscriptions.size === 0) return;
    const isScheduled = this.#pushedTo.size > 0;
    this.#pushedTo.add(queue);
    if (isScheduled) return;
    // Not at once: a listener that throws or takes its time is none of the push's business, and once for a whole batch.
    queueMicrotask(() => {
      const pushedTo = [...this.#pushedTo];
      this.#pushedTo.clear();
      this.#wake(pushedTo);
    });
  }

  /** A worker has reserved: one that got all it asked for is busy. */
  reserved(worker: string, isSatisfied: boolean): void {
    this.#isAnyKnown = true;
    if (isSatisfied) this.#waiting.delete(worker);
    else this.#waiting.add(worker);
    this.#lookLater();
  }

  close(): void {
    this.#subscriptions.clear();
    this.#stop();
  }

  #end(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size === 0) this.#stop();
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#newest = null;
    this.#waiting.clear();
    this.#isAnyKnown = false;
  }

  /** Sooner than was planned, where it is wanted sooner. */
  #lookLater(atLeastMs = 0): void {
    if (this.#everyMs === 0 || this.#subscriptions.size === 0 || this.#isLooking) return;
    const isAnyWaiting = this.#waiting.size > 0 || !this.#isAnyKnown;
    const ms = Math.max(this.#everyMs, atLeastMs, isAnyWaiting ? 0 : SLOW_MS);
    const atMs = performance.now() + ms;
    if (this.#timer !== null) {
      if (this.#nextLookMs <= atMs) return;
      clearTimeout(this.#timer);
    }
    this.#nextLookMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#look();
    }, ms).unref();
  }

  /** Never throws. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    let hasFailed = false;
    try {
      const after = this.#newest;
      if (after === null) this.#newest = await this.#findNewest();
      else await this.#findNew(after);
    } catch {
      hasFailed = true;
    }
    this.#isLooking = false;
    this.#lookLater(hasFailed ? SLOW_MS : 0);
  }

  async #findNewest(): Promise<bigint> {
    const row = await this.#connection.read((session) => session.first<{ readonly id: string | null }>('newestJob'));
    return BigInt(row?.id ?? 0);
  }

  async #findNew(after: bigint): Promise<void> {
    const jobs = await this.#connection.glance((session) => session.all<NewJob>('newJobs', { after, limit: LIMIT }));
    const last = jobs.at(-1);
    if (last === undefined || this.#newest === null) return;
    this.#newest = jobs.length === LIMIT ? await this.#findNewest() : BigInt(last.id);
    this.#wake(jobs.length === LIMIT ? null : jobs.map(({ queue }) => queue));
  }

  /** Null: everybody. */
  #wake(queues: readonly string[] | null): void {
    for (const subscription of [...this.#subscriptions]) {
      if (queues !== null && !queues.some((one) => subscription.queues.has(one))) continue;
      try {
        subscription.wake();
      } catch {
        // A wakeup is a hint: whoever cannot take it polls. The others still get theirs.
      }
    }
  }
}
