import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewJob, QueueWarning } from '@q/core';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { SqliteDriver, type SqliteDriverOptions } from '../src/index.js';

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
}

const NOW = '2031-05-17 10:20:30';

/** A folder that is gone when the test is over. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'q-driver-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenOptions extends SqliteDriverOptions {
  /** Default: a new file. */
  readonly file?: string;
  /** Default WAL; null leaves it alone. */
  readonly journal?: 'wal' | 'delete' | null;
  readonly tables?: boolean;
}

export interface Opened {
  readonly db: Database.Database;
  readonly driver: SqliteDriver;
  readonly clock: Clock;
  readonly warnings: QueueWarning[];
  readonly file: string;
}

/** A driver on a fresh database, with its tables, on a clock of its own; closed when the test is over. */
export async function open(options: OpenOptions = {}): Promise<Opened> {
  const { file = join(aFolder(), 'app.db'), journal = 'wal', tables = true, ...driverOptions } = options;
  const clock = new Clock();
  const warnings: QueueWarning[] = [];
  const db = new Database(file);
  if (journal !== null) db.pragma(`journal_mode = ${journal}`);
  const driver = new SqliteDriver(db, {
    now: clock.now,
    onWarning: (warning) => warnings.push(warning),
    ...driverOptions,
  });
  onTestFinished(async () => {
    await driver.close();
    db.close();
  });
  if (tables) await driver.createTables();
  return { db, driver, clock, warnings, file };
}

/** A row as another language would write it: only the columns that have no default. */
export function insertRaw(
  db: Database.Database,
  what: { readonly payload?: string | Buffer; readonly id?: bigint } = {},
): void {
  const { payload = '{"invoiceId":7}', id = null } = what;
  db.prepare('INSERT INTO queue_jobs (id, name, payload, available_at, created_at) VALUES (?, ?, ?, ?, ?)').run(
    id,
    'send-invoice',
    payload,
    NOW,
    NOW,
  );
}

export function count(db: Database.Database, table = 'queue_jobs'): number {
  return db.prepare(`SELECT count(*) FROM ${table}`).safeIntegers(false).pluck().get() as number;
}

/**
 * Starts a task of child.mjs, a process of its own that runs the built package; killed with the test if it still runs.
 */
export function start(task: string, ...args: readonly (string | number)[]): ChildProcess {
  const child = fork(new URL('./child.mjs', import.meta.url), [task, ...args.map(String)], { stdio: 'inherit' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

/** The next message of a child. Rejects where it ends without one. */
export function messageOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as T);
    };
    const onExit = (code: number | null) => {
      child.off('message', onMessage);
      reject(new Error(`the child process ended with exit code ${code} before it said anything`));
    };
    child.once('message', onMessage).once('exit', onExit);
  });
}
