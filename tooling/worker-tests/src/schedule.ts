import type { Job, WorkerEvent } from '@q/core';
import type Database from 'better-sqlite3';
import { type Fault, faulty, without } from './faults.js';
import { type Data, type TestStore, type TestWorker, workerOn } from './store.js';

/** What ends an attempt. */
const ENDS = new Set(['job_done', 'job_released', 'job_retried', 'job_failed', 'job_unrecorded', 'claim_lost']);
/** After which a job may be gone from the store: an outcome that could not be recorded may have been, all the same. */
const GONE = new Set(['job_done', 'job_failed', 'job_unrecorded']);
const BATCHES = ['pushMany', 'reserveMany', 'deleteMany', 'extendMany'];
const LEASES = ['extend', 'extendMany'];
// From here on no call fails and no handler hangs, so that everything can come to its end.
const CALM_MS = 120_000;

/** What is wrong with what a worker told: nothing outside a run, each attempt ended once, never more in hand than slots. */
export function faultsIn(events: readonly WorkerEvent[], concurrency: number): string[] {
  const faults: string[] = [];
  const inHand = new Set<string>();
  let isOver = true;
  for (const event of events) {
    if (event.type === 'started') isOver = false;
    else if (isOver && event.type !== 'reserve_late') faults.push(`${event.type} while nothing runs`);
    if (event.type === 'ended') {
      isOver = true;
      if (inHand.size > 0) faults.push(`ended with ${[...inHand].join()} in hand`);
    }
    if (!('job' in event)) continue;
    const { id, attempts, maxAttempts } = event.job;
    const attempt = `${id}/${attempts}`;
    if (event.type === 'job_started') {
      if (inHand.has(attempt)) faults.push(`${attempt} was started twice`);
      inHand.add(attempt);
      if (inHand.size > concurrency) faults.push(`${inHand.size} jobs in hand`);
    } else if (ENDS.has(event.type) && !inHand.delete(attempt)) {
      // A poison job is failed unrun, and one that waited to run alone is put back unrun.
      const isUnrun = attempts > maxAttempts || attempts > 1;
      if (!isUnrun) faults.push(`${attempt} ended with ${event.type} and was not in hand`);
    }
  }
  return faults;
}

/** Jobs that are in no table and of whose end no worker told. */
export function lostJobs(store: TestStore, jobs: number, workers: readonly TestWorker[]): number[] {
  const left = new Set(store.rows().map(({ id }) => id));
  const events = workers.flatMap((each) => each.events);
  const isTold = (id: number) => events.some((event) => 'job' in event && event.job.id === id && GONE.has(event.type));
  return Array.from({ length: jobs }, (_, n) => n + 1).filter((id) => !left.has(id) && !isTold(id));
}

/** Two workers, with all options, on a store that fails, and handlers that do one of everything: the same for one seed. */
export class Schedule {
  readonly #random: () => number;
  readonly #store: TestStore;

  constructor(seed: number, store: TestStore) {
    this.#random = randomOf(seed);
    this.#store = store;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  upTo(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Stores 4 to 19 jobs; how many. */
  async push(): Promise<number> {
    const jobs = 4 + this.upTo(16);
    for (let n = 0; n < jobs; n += 1) {
      const queue = this.#pick(['one', 'two']);
      await this.#store.push('a', { queue, priority: this.upTo(3), maxAttempts: 1 + this.upTo(3) });
    }
    return jobs;
  }

  worker(id: string, concurrency: number): TestWorker {
    const lacking = this.#pick([[], [], BATCHES, LEASES]);
    const { driver } = faulty(without(this.#store.driver, lacking), () => this.#fault());
    return workerOn(
      this.#store,
      { a: (_, job) => this.#handle(job) },
      {
        id,
        driver,
        concurrency,
        queues: ['one', 'two'],
        sleep: 1 + this.upTo(5),
        lease: 3 + this.upTo(20),
        timeout: 4 + this.upTo(30),
        grace: this.upTo(6),
        driverTimeout: 1 + this.upTo(10),
        maxAbandoned: 1_000,
        maxReserveFailures: this.#pick([0, 5]),
        stopWhenEmpty: this.chance(0.2),
        shutdownTimeout: this.#pick([0, 2, 30]),
        backoff: this.upTo(10),
      },
    );
  }

  #pick<T>(list: readonly T[]): T {
    const picked = list[this.upTo(list.length)];
    if (picked === undefined) throw new Error('There is nothing to pick from');
    return picked;
  }

  get #isCalm(): boolean {
    return this.#store.time.monotonicMs() > CALM_MS;
  }

  #fault(): Fault {
    if (this.#isCalm || this.chance(0.8)) return null;
    return this.#pick<Fault>([{ throws: new Error('down') }, { throws: undefined }, 'hangs', 'acts, then throws']);
  }

  async #handle(job: Job<Data, Database.Database>): Promise<void> {
    const { db, time } = this.#store;
    const pause = (ms: number) => new Promise<void>((resolve) => time.after(ms, resolve));
    if (this.chance(0.7)) await pause(this.upTo(20_000));
    switch (this.upTo(9)) {
      case 0:
        throw new Error('thrown');
      case 1:
        return job.release(this.upTo(20));
      case 2:
        job.release(1);
        throw undefined;
      case 3:
        return this.#isCalm ? undefined : new Promise(() => {});
      case 4:
        await Promise.race([
          new Promise<void>((resolve) => job.signal.addEventListener('abort', () => resolve())),
          pause(30_000),
        ]);
        throw job.signal.reason;
      case 5:
        return this.#complete(job, db);
    }
  }

  async #complete(job: Job<Data, Database.Database>, db: Database.Database): Promise<void> {
    if (db.inTransaction) return;
    db.exec('BEGIN');
    try {
      await job.complete(db);
      db.exec(this.chance(0.5) ? 'COMMIT' : 'ROLLBACK');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
