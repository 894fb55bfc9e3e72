/**
 * Runs no-op jobs on a SQLite file and measures the process on the way:
 * `node --expose-gc dist/footprint.js '<options as JSON>'`. Prints its samples as JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, Worker } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';

export interface FootprintOptions {
  readonly jobs: number;
  readonly concurrency: number;
  /** A sample is taken after every so many jobs. */
  readonly every: number;
}

/** The process after so many jobs. Memory is in megabytes, after a collection of garbage. */
export interface Sample {
  readonly done: number;
  readonly elapsedMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly timers: number;
  /** All that keeps the process alive, timers included. */
  readonly resources: number;
  readonly listeners: number;
}

const { jobs, concurrency, every } = JSON.parse(process.argv[2] ?? '{}') as FootprintOptions;
const PUSHED_AT_ONCE = 10_000;
const megabytes = (bytes: number) => Math.round((bytes / 2 ** 20) * 10) / 10;

const folder = mkdtempSync(join(tmpdir(), 'q-footprint-'));
const db = new Database(join(folder, 'app.db'));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = OFF');
const driver = new SqliteDriver(db);
await driver.createTables();
const queue = new Queue({ driver, handlers: { a: { handle: async () => {} } } });
for (let pushed = 0; pushed < jobs; pushed += PUSHED_AT_ONCE) {
  await queue.pushMany(Array.from({ length: PUSHED_AT_ONCE }, () => ({ name: 'a', payload: {} }) as const));
}

const samples: Sample[] = [];
const worker = new Worker({ queue, concurrency, stopWhenEmpty: true, signals: true });
let done = 0;
let startMs = performance.now();
let measuringMs = 0;
worker.on('job_done', () => {
  done += 1;
  if (done % every === 0) measure();
});

function measure(): void {
  const beforeMs = performance.now();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  samples.push({
    done,
    elapsedMs: Math.round(beforeMs - startMs - measuringMs),
    rss: megabytes(rss),
    heapUsed: megabytes(heapUsed),
    timers: resources.filter((type) => type === 'Timeout').length,
    resources: resources.length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  });
  measuringMs += performance.now() - beforeMs;
}

measure();
startMs = performance.now();
await worker.run();
measure();
await driver.close();
db.close();
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify(samples));
