/**
 * A worker as a process of its own, for tests that need one: `node dist/worker-process.js '<options as JSON>'`.
 * It logs every handler's start and end to a file and every event's line to stdout, and ends by itself.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineHandlers, describe, handler, type Job, Queue, Worker, type WorkerOptions } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';

export interface ProcessOptions {
  /** The SQLite file. */
  readonly file: string;
  /** Where handlers note `<start|end> <name> <id> <attempt> <ms since 1970>`. */
  readonly log: string;
  readonly worker: Omit<WorkerOptions, 'queue' | 'clock'>;
}

type Wait = { readonly ms: number };

const { file, log, worker: options } = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;

function note(what: 'start' | 'end', { name, id, attempts }: Job<never>): void {
  appendFileSync(log, `${what} ${name} ${id} ${attempts} ${Date.now()}\n`);
}

function noted<P extends object>(run: (payload: P, job: Job<P>) => unknown) {
  return handler(async (payload: P, job: Job<P>) => {
    note('start', job as Job<never>);
    await run(payload, job);
    note('end', job as Job<never>);
  });
}

const handlers = defineHandlers({
  quick: noted(async (_: Record<string, never>) => {}),
  slow: noted(async ({ ms }: Wait, job) => sleep(ms, undefined, { signal: job.signal })),
  block: noted(({ ms }: Wait) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  }),
  deaf: noted((_: Record<string, never>) => new Promise(() => {})),
  kill: noted((_: Record<string, never>) => {
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {}); // the signal takes a moment
  }),
});

const db = new Database(file);
const driver = new SqliteDriver(db);
const worker = new Worker({ queue: new Queue({ driver, handlers, backoff: 1 }), ...options });
worker.on('event', (event) => console.log(describe(event)));
process.exitCode = await worker.run();
await driver.close();
db.close();
