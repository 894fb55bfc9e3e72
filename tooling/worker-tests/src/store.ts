import {
  defineHandlers,
  type FailedJob,
  type Handlers,
  handler,
  type Job,
  Queue,
  type QueueDriver,
  Worker,
  type WorkerEvent,
  type WorkerOptions,
} from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { TestTime } from './test-time.js';

export type Data = { readonly [key: string]: unknown };
type Run = (payload: Data, job: Job<Data, Database.Database>) => unknown;

export interface TestStore extends AsyncDisposable {
  readonly db: Database.Database;
  readonly driver: SqliteDriver;
  readonly time: TestTime;
  /** Stores a job of this name and gives its id. */
  push(
    name: string,
    options?: { queue?: string; priority?: number; maxAttempts?: number; unique?: string },
  ): Promise<number>;
  failed(): Promise<FailedJob[]>;
  /** The rows of the jobs table, oldest first. */
  rows(): Row[];
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly attempts: number;
  readonly available_at: string;
  readonly reserved_until: string | null;
  readonly reserved_by: string | null;
  readonly last_error: string;
}

/** An empty SQLite store in memory, whose time the test moves. */
export async function openStore(): Promise<TestStore> {
  const time = new TestTime();
  const db = new Database(':memory:');
  const driver = new SqliteDriver(db, { now: time.now });
  await driver.createTables();
  return {
    db,
    driver,
    time,
    push: (name, options = {}) =>
      driver.push({
        name,
        payload: {},
        delay: 0,
        queue: options.queue ?? 'default',
        priority: options.priority ?? 0,
        unique: options.unique ?? null,
        maxAttempts: options.maxAttempts ?? 3,
      }),
    failed: () => driver.failedRows(100),
    rows: () => db.prepare<[], Row>('SELECT * FROM queue_jobs ORDER BY id').all(),
    async [Symbol.asyncDispose]() {
      await driver.close();
      db.close();
    },
  };
}

export interface TestWorker {
  readonly worker: Worker;
  /** Everything it told, in order. */
  readonly events: WorkerEvent[];
  /** The events of one type. */
  told<T extends WorkerEvent['type']>(type: T): Extract<WorkerEvent, { type: T }>[];
}

type Options = Omit<WorkerOptions, 'queue'> & {
  readonly backoff?: number | readonly number[] | ((attempt: number) => number);
  readonly driver?: QueueDriver;
};

/** A worker on the store and its time, with handlers by name. */
export function workerOn(store: TestStore, run: Readonly<Record<string, Run>>, options: Options = {}): TestWorker {
  const { backoff, driver = store.driver, ...rest } = options;
  // The cast: what a registry of names known only at run time holds.
  const handlers = defineHandlers(
    Object.fromEntries(Object.entries(run).map(([name, handle]) => [name, handler(handle as never)])),
  ) as Handlers;
  const queue = new Queue({ driver, handlers: handlers as never, backoff });
  const worker = new Worker({ queue, clock: store.time, id: 'tester', ...rest });
  const events: WorkerEvent[] = [];
  worker.on('event', (event) => events.push(event));
  return {
    worker,
    events,
    told: <T extends WorkerEvent['type']>(type: T) =>
      events.filter((event): event is Extract<WorkerEvent, { type: T }> => event.type === type),
  };
}

/** A promise and the function that settles it. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}
