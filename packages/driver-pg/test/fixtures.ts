import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { NewJob, QueueWarning } from '@q/core';
import { createPostgresDatabase, type Space } from '@q/servers';
import pg from 'pg';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { PgDriver, type PgDriverOptions } from '../src/index.js';

/** A job in which only what matters is said. */
export function aJob(what: Partial<NewJob> = {}): NewJob {
  return {
    name: 'send-invoice',
    payload: { invoiceId: 7 },
    delay: 0,
    queue: 'default',
    priority: 0,
    unique: null,
    maxAttempts: 3,
    ...what,
  };
}

/** A clock that stands still until it is moved; years away from the real time. */
export class Clock {
  #epochMs = Date.parse('2031-05-17T10:20:30.000Z');

  readonly now = (): Date => new Date(this.#epochMs);

  advance(seconds: number): void {
    this.#epochMs += seconds * 1000;
  }

  set(moment: string): void {
    this.#epochMs = Date.parse(moment);
  }
}

export const NOW = '2031-05-17 10:20:30+00';

/** A database of its own for the tests of one file. Call it at the top of the file. */
export function useDatabase(): { readonly url: () => string } {
  let space: Space | null = null;
  beforeAll(async () => {
    space = await createPostgresDatabase(inject('postgres'));
  });
  afterAll(() => space?.drop());
  return {
    url() {
      if (space === null) throw new Error('the database is there while tests run');
      return space.url;
    },
  };
}

/** A pool that is ended with the test. Its errors are counted: a lost connection must end no process. */
export function aPool(config: pg.PoolConfig): pg.Pool & { readonly errors: Error[] } {
  const pool = Object.assign(new pg.Pool(config), { errors: [] as Error[] });
  pool.on('error', (error) => pool.errors.push(error));
  // A test that failed may hold a client still: what it found comes first.
  onTestFinished(() => Promise.race([pool.end(), new Promise<void>((resolve) => setTimeout(resolve, 2_000))]));
  return pool;
}

export interface Opened {
  readonly pool: pg.Pool & { readonly errors: Error[] };
  readonly driver: PgDriver;
  readonly clock: Clock;
  readonly warnings: QueueWarning[];
}

export interface OpenOptions extends PgDriverOptions {
  readonly pool?: pg.PoolConfig;
  /** False: the tables are left as they are, or away. */
  readonly tables?: boolean;
}

/** A driver on empty tables of the database, on a clock of its own; closed when the test is over. */
export async function open(url: string, options: OpenOptions = {}): Promise<Opened> {
  const { pool: config, tables = true, ...driverOptions } = options;
  const pool = aPool({ connectionString: url, ...config });
  const clock = new Clock();
  const warnings: QueueWarning[] = [];
  const onWarning = (warning: QueueWarning) => warnings.push(warning);
  const driver = new PgDriver(pool, { now: clock.now, onWarning, ...driverOptions });
  if (tables) {
    await driver.createTables();
    await pool.query('TRUNCATE queue_jobs, queue_failed_jobs RESTART IDENTITY');
  }
  onTestFinished(() => driver.close());
  return { pool, driver, clock, warnings };
}

export async function count(pool: pg.Pool, table = 'queue_jobs'): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM ${table}`);
  return Number(rows[0]?.count);
}

/** How many sessions wait for a lock of another. */
export async function waiting(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rows[0]?.n;
}

/** The statements that a driver sends, and what connections it takes: a pool that takes notes. */
export function watched(pool: pg.Pool): { readonly pool: pg.Pool; readonly sent: string[]; checkOuts(): number } {
  const sent: string[] = [];
  let checkOuts = 0;
  const proxy = new Proxy(pool, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'connect') return value.bind(target);
      return async () => {
        checkOuts += 1;
        const client = await target.connect();
        return new Proxy(client, {
          get(of, name) {
            const inner: unknown = Reflect.get(of, name, of);
            if (typeof inner !== 'function') return inner;
            if (name !== 'query') return inner.bind(of);
            return (config: string | { text: string }) => {
              sent.push((typeof config === 'string' ? config : config.text).trim().split(/\s+/).slice(0, 3).join(' '));
              return inner.call(of, config);
            };
          },
        });
      };
    },
  });
  return { pool: proxy, sent, checkOuts: () => checkOuts };
}

/** Waits until something is so; after `ms` it throws. For what other processes and connections do. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, ms = 15_000): Promise<number> {
  const start = performance.now();
  while (!(await isSo())) {
    if (performance.now() - start > ms) throw new Error(`after ${ms} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - start;
}

/**
 * Starts a task of child.mjs, a process of its own that runs the built package; killed with the test if it still runs.
 */
export function start(task: string, ...args: readonly (string | number)[]): ChildProcess {
  const child = fork(new URL('./child.mjs', import.meta.url), [task, ...args.map(String)], {
    stdio: 'inherit',
    execArgv: ['--unhandled-rejections=strict'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The next message of a child. Rejects where it ends without one. */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the child process ended with exit code ${code} before it said anything`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [T];
  ended.catch(() => {});
  return message;
}
