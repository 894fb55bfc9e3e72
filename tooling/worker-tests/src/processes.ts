import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import type { ProcessOptions } from './worker-process.js';

const ENTRY = fileURLToPath(new URL('../dist/worker-process.js', import.meta.url));

interface WorkerProcess {
  readonly child: ChildProcess;
  /** What it printed, line by line, so far. */
  lines(): string[];
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly atMs: number;
  }>;
}

/** Something a handler noted. */
interface Note {
  readonly what: string;
  readonly name: string;
  readonly id: number;
  readonly attempt: number;
  readonly atMs: number;
}

export interface FileStore extends AsyncDisposable {
  readonly driver: SqliteDriver;
  push(name: string, payload?: object, maxAttempts?: number): Promise<number>;
  /** `env` is added to what this process has. */
  start(worker: ProcessOptions['worker'], env?: Readonly<Record<string, string>>): WorkerProcess;
  notes(): Note[];
  /** Keeps every other writer out of the file, until it is disposed of. */
  lock(): Disposable;
  /** Waits until `isTrue`; after `ms` it throws with what the processes printed. */
  until(what: string, isTrue: () => boolean | Promise<boolean>, ms?: number): Promise<void>;
}

/** A SQLite file with tables in a folder of its own; what was started on it is killed at the end. */
export async function openFileStore(): Promise<FileStore> {
  const folder = mkdtempSync(join(tmpdir(), 'q-worker-'));
  const file = join(folder, 'app.db');
  const log = join(folder, 'handlers.log');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  const driver = new SqliteDriver(db);
  await driver.createTables();
  const started: WorkerProcess[] = [];
  return {
    driver,
    push: (name, payload = {}, maxAttempts = 3) =>
      driver.push({ name, payload, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts }),
    start(worker, env = {}) {
      const process = startWorker({ file, log, worker }, env);
      started.push(process);
      return process;
    },
    notes: () => (existsSync(log) ? readNotes(log) : []),
    lock() {
      const another = new Database(file);
      another.exec('BEGIN IMMEDIATE');
      return { [Symbol.dispose]: () => another.close() };
    },
    async until(what, isTrue, ms = 15_000) {
      const end = performance.now() + ms;
      while (!(await isTrue())) {
        if (performance.now() > end) {
          const printed = started.map((each, n) => `process ${n}:\n${each.lines().join('\n')}`).join('\n');
          throw new Error(`after ${ms} ms still not: ${what}\n${printed}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { child } of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await Promise.all(started.map(({ exited }) => exited));
      await driver.close();
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startWorker(options: ProcessOptions, env: Readonly<Record<string, string>>): WorkerProcess {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', ENTRY, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<Awaited<WorkerProcess['exited']>>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, atMs: performance.now() }));
  });
  return { child, exited, lines: () => output.split('\n').slice(0, -1) };
}

function readNotes(log: string): Note[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [what = '', name = '', id = '', attempt = '', atMs = ''] = line.split(' ');
      return { what, name, id: Number(id), attempt: Number(attempt), atMs: Number(atMs) };
    });
}
