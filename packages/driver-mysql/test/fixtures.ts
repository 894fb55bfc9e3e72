import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { NewJob, QueueWarning } from '@q/core';
import { createMysqlDatabase, type Space } from '@q/servers';
import type {} from '@q/servers/vitest/mariadb';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { MysqlDriver, type MysqlDriverOptions, type MysqlPool } from '../src/index.js';

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

export const NOW = '2031-05-17 10:20:30';

let quickTierUrl = () => inject('mariadb');

/** Has the tests that choose no server run on this one: files of the quick tier, imported by one of the slow. */
export function onServer(url: () => string): void {
  quickTierUrl = url;
}

/** A database of its own for the tests of one file. Call it at the top of the file. */
export function useDatabase(serverUrl: () => string = quickTierUrl): { readonly url: () => string } {
  let space: Space | null = null;
  beforeAll(async () => {
    space = await createMysqlDatabase(serverUrl());
  });
  afterAll(() => space?.drop());
  return {
    url() {
      if (space === null) throw new Error('the database is there while tests run');
      return space.url;
    },
  };
}

/** A pool that is ended with the test. */
export function aPool(url: string, options: mysql.PoolOptions = {}): mysql.Pool {
  const pool = mysql.createPool({ uri: url, connectionLimit: 10, ...options });
  onTestFinished(() => endOf(pool));
  return pool;
}

/** A test that failed may hold a connection still: what it found comes first. */
function endOf(pool: mysql.Pool): Promise<void> {
  return Promise.race([pool.end().catch(() => {}), new Promise<void>((resolve) => setTimeout(resolve, 2_000))]);
}

export interface Opened {
  readonly pool: mysql.Pool;
  readonly driver: MysqlDriver;
  readonly clock: Clock;
  readonly warnings: QueueWarning[];
}

export interface OpenOptions extends MysqlDriverOptions {
  readonly pool?: mysql.PoolOptions;
  /** What the driver is given in place of the pool. */
  readonly wrap?: (pool: mysql.Pool) => MysqlPool;
  /** False: the tables are left as they are, or away. */
  readonly tables?: boolean;
}

/** A driver on empty tables of the database, on a clock of its own; closed when the test is over. */
export async function open(url: string, options: OpenOptions = {}): Promise<Opened> {
  const { pool: config, wrap = (pool) => pool, tables = true, ...driverOptions } = options;
  const pool = aPool(url, config);
  if (tables) await emptyTables(url);
  const clock = new Clock();
  const warnings: QueueWarning[] = [];
  const onWarning = (warning: QueueWarning) => warnings.push(warning);
  const driver = new MysqlDriver(wrap(pool), { now: clock.now, onWarning, ...driverOptions });
  onTestFinished(() => driver.close());
  return { pool, driver, clock, warnings };
}

export async function emptyTables(url: string): Promise<void> {
  const plain = mysql.createPool({ uri: url });
  await new MysqlDriver(plain).createTables();
  for (const table of ['queue_jobs', 'queue_failed_jobs']) await plain.query(`TRUNCATE TABLE ${table}`);
  await plain.end();
}

/** The rows of a query, each value as text, whatever the pool was made with. */
export async function rowsOf(on: mysql.Pool | mysql.Connection, sql: string): Promise<(string | null)[][]> {
  const [rows] = await on.query<mysql.RowDataPacket[]>({
    sql,
    rowsAsArray: true,
    typeCast: (field) => field.buffer()?.toString('utf8') ?? null,
  });
  // The cast: rows as lists, of what typeCast gives.
  return rows as unknown as (string | null)[][];
}

export async function count(on: mysql.Pool | mysql.Connection, table = 'queue_jobs'): Promise<number> {
  const [[rows] = []] = await rowsOf(on, `SELECT count(*) FROM ${table}`);
  return Number(rows);
}

/** Whether a transaction is open on a connection, or on the only one of a pool. */
export async function isInTransaction(on: mysql.Pool | mysql.Connection): Promise<boolean> {
  const [{ serverStatus }] = await on.query<mysql.ResultSetHeader>('DO 0');
  return (serverStatus & 1) !== 0;
}

/** What one statement of the driver's is, in a few words: the first of its text. */
export function inShort(sql: string): string {
  return sql.trim().split(/\s+/).slice(0, 3).join(' ');
}

export interface Watched {
  readonly pool: MysqlPool;
  /** Every statement, whole. */
  readonly sent: string[];
  /** What was given to `query`, besides. */
  readonly given: object[];
  checkOuts(): number;
  readonly released: { count: number };
  readonly destroyed: { count: number };
}

export interface WatchOptions {
  /** Called before each statement is sent, with its text; what it throws is the statement's error, what it gives its answer. */
  readonly before?: (sql: string, n: number) => unknown;
}

/** A pool that takes notes of what a driver does with it, and can be made to fail. */
export function watched(pool: mysql.Pool, { before = () => undefined }: WatchOptions = {}): Watched {
  const sent: string[] = [];
  const given: object[] = [];
  const released = { count: 0 };
  const destroyed = { count: 0 };
  let checkOuts = 0;
  const client = (inner: mysql.PoolConnection) =>
    proxy(inner, {
      query: async (options: { sql: string }) => {
        sent.push(options.sql);
        given.push(options);
        const answer = await before(options.sql, sent.length);
        return answer === undefined ? inner.query(options as mysql.QueryOptions) : [answer];
      },
      release: () => {
        released.count += 1;
        inner.release();
      },
      destroy: () => {
        destroyed.count += 1;
        inner.destroy();
      },
    });
  const getConnection = async () => {
    checkOuts += 1;
    return client(await pool.getConnection());
  };
  return { pool: proxy(pool, { getConnection }), sent, given, checkOuts: () => checkOuts, released, destroyed };
}

/** The same object, but for some of its methods. */
export function proxy<T extends object>(target: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(target, {
    get(of, key) {
      if (typeof key === 'string' && key in methods) return methods[key];
      const value: unknown = Reflect.get(of, key, of);
      return typeof value === 'function' && key !== 'Promise' ? value.bind(of) : value;
    },
  });
}

/** An error as the server sends it. */
export function serverError(errno: number, message = `error ${errno}`): Error {
  return Object.assign(new Error(message), { errno, code: 'ER_OF_A_TEST', sqlState: 'HY000' });
}

/** What a server of that version says of itself; the rest is the server's that is there. */
export function claiming(version: string): NonNullable<WatchOptions['before']> {
  return (sql) => (/version\(\)/.test(sql) ? [{ version }] : undefined);
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

/** Starts a task of child.mjs, a process of its own that runs the built package; killed with the test if it still runs. */
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
