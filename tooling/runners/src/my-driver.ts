import type { Claim, NewJob, QueueDriver, QueueLeases, ReservedJob } from '@q/core';
import {
  CLAIM_ROUNDS,
  checkClaim,
  checkDelay,
  checkQueues,
  checkText,
  checkTimeout,
  checkWorker,
  type DriverOptions,
  type EncodedJob,
  encodeJob,
  reservedJob,
  secondsAfter,
  secondsAt,
  settleOptions,
  trimErrorText,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';

interface Row extends Omit<EncodedJob, 'delay'> {
  readonly id: number;
  attempts: number;
  availableAt: number;
  reservedUntil: number | null;
  lastError: string;
}

interface Database {
  readonly jobs: Map<number, Row>;
  readonly failed: Row[];
  lastId: number;
}

const DATABASES = new Map<string, Database>();
let databases = 0;

/** A database in memory, by a made-up url: as a harness makes a fresh one for each case. */
export async function emptyDatabase(): Promise<string> {
  databases += 1;
  const url = `memory:${databases}`;
  DATABASES.set(url, { jobs: new Map(), failed: [], lastId: 0 });
  return url;
}

export async function dropDatabase(url: string): Promise<void> {
  DATABASES.delete(url);
}

/** The driver of the guide: the six methods and leases, in memory. Nothing happens between two lines, so nothing races. */
export class MyDriver implements QueueDriver, QueueLeases {
  readonly #database: Database;
  readonly #options;

  constructor(url: string, options: DriverOptions = {}) {
    const database = DATABASES.get(url);
    if (database === undefined) throw new Error(`there is no database ${url}`);
    this.#database = database;
    this.#options = settleOptions(options, 'MyDriver');
  }

  async push(job: NewJob): Promise<number> {
    const { delay, ...encoded } = encodeJob(job, this.#options.maxPayloadBytes);
    const holder = [...this.#database.jobs.values()].find(({ unique }) => unique !== null && unique === encoded.unique);
    if (holder !== undefined) return holder.id;
    this.#database.lastId += 1;
    const id = this.#database.lastId;
    const availableAt = this.#after(delay);
    this.#database.jobs.set(id, { ...encoded, id, attempts: 0, availableAt, reservedUntil: null, lastError: '' });
    return id;
  }

  async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
    const seconds = checkTimeout(timeout);
    checkWorker(worker);
    for (const queue of checkQueues(queues)) {
      for (let round = 0; round < CLAIM_ROUNDS; round += 1) {
        const row = this.#pending(queue).sort(inOrder)[0];
        if (row === undefined) break;
        const job = this.#claim(row, seconds);
        if (job !== null) return job;
      }
    }
    return null;
  }

  async delete(claim: Claim): Promise<boolean> {
    return this.#act(claim, ({ id }) => this.#database.jobs.delete(id));
  }

  async release(claim: Claim, delay: number, error: string): Promise<boolean> {
    const changes = {
      reservedUntil: null,
      availableAt: this.#after(checkDelay(delay)),
      lastError: trimErrorText(error),
    };
    return this.#act(claim, (row) => Object.assign(row, changes));
  }

  async fail(claim: Claim, error: string): Promise<boolean> {
    const text = trimErrorText(error);
    return this.#act(claim, (row) => this.#fail(row, text));
  }

  async extend(claim: Claim, timeout: number): Promise<boolean> {
    const reservedUntil = this.#after(checkTimeout(timeout));
    return this.#act(claim, (row) => Object.assign(row, { reservedUntil }));
  }

  async pending(queue?: string | null): Promise<number> {
    return this.#pending(queue === null || queue === undefined ? null : checkText('queue', queue)).length;
  }

  #pending(queue: string | null): Row[] {
    const now = secondsAt(this.#options.now());
    return [...this.#database.jobs.values()].filter((row) => {
      const isDue = row.availableAt <= now && (row.reservedUntil === null || row.reservedUntil <= now);
      return isDue && (queue === null || row.queue === queue);
    });
  }

  #claim(row: Row, timeout: number): ReservedJob | null {
    const reclaimed = row.reservedUntil !== null;
    row.attempts += 1;
    row.reservedUntil = this.#after(timeout);
    const { id, queue, name, payloadJson, attempts, maxAttempts } = row;
    const job = reservedJob({ id, handle: '', queue, name, payloadJson, attempts, maxAttempts, reclaimed });
    if (job === null) this.#fail(row, UNDECODABLE_PAYLOAD);
    return job;
  }

  #act(claim: Claim, change: (row: Row) => unknown): boolean {
    const { id, attempts } = checkClaim(claim);
    const row = this.#database.jobs.get(id);
    if (row === undefined || row.attempts !== attempts || row.reservedUntil === null) return false;
    change(row);
    return true;
  }

  #fail(row: Row, error: string): void {
    this.#database.failed.push({ ...row, lastError: error });
    this.#database.jobs.delete(row.id);
  }

  #after(seconds: number): number {
    return secondsAfter(this.#options.now(), seconds);
  }
}

function inOrder(a: Row, b: Row): number {
  return b.priority - a.priority || a.availableAt - b.availableAt || a.id - b.id;
}
