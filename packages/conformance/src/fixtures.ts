import { equal, ok } from 'node:assert/strict';
import type { NewJob, QueueDriver, QueueReports, ReservedJob } from '@q/core';
import type { JobRow, NewRow } from './harness.js';

const QUEUE = 'default';
export const WORKER = 'worker-1';

/** A job in which only what matters is said. */
export function aJob(what: Partial<NewJob> = {}): NewJob {
  return {
    name: 'send-invoice',
    payload: { invoiceId: 7 },
    delay: 0,
    queue: QUEUE,
    priority: 0,
    unique: null,
    maxAttempts: 3,
    ...what,
  };
}

/** A row as another language would write it, due at `now`. */
export function aRow(now: Date, what: Partial<NewRow> = {}): NewRow {
  return { name: 'send-invoice', payloadJson: '{"invoiceId":7}', availableAt: now, createdAt: now, ...what };
}

export interface ReserveOptions {
  readonly queue?: string;
  readonly timeout?: number;
  readonly worker?: string;
}

/** Claims the job there has to be. */
export async function reserveOne(driver: QueueDriver, options: ReserveOptions = {}): Promise<ReservedJob> {
  const { queue = QUEUE, timeout = 60, worker = WORKER } = options;
  const job = await driver.reserve([queue], timeout, worker);
  ok(job !== null, `reserve from "${queue}" gave null where a job is due`);
  return job;
}

/** Asserts that nothing can be reserved. `when` says at which point. */
export async function reserveNone(
  driver: QueueDriver,
  when: string,
  queues: readonly string[] = [QUEUE],
): Promise<void> {
  const job = await driver.reserve(queues, 60, WORKER);
  equal(job?.id ?? null, null, `${when}: reserve has to give null, and gave a job`);
}

/** Claims one by one until nothing is due. Bounded, because a broken driver might go on for ever. */
export async function drain(driver: QueueDriver, queues: readonly string[] = [QUEUE]): Promise<ReservedJob[]> {
  const jobs: ReservedJob[] = [];
  for (let round = 0; round < 1_000; round += 1) {
    const job = await driver.reserve(queues, 3_600, WORKER);
    if (job === null) return jobs;
    jobs.push(job);
  }
  throw new Error('reserve still gives jobs after 1,000 of them');
}

export function ids(jobs: readonly { readonly id: number }[]): number[] {
  return jobs.map(({ id }) => id);
}

/** Ids in ascending order: they name jobs, and need not tell which was first. */
export function lowestFirst(...list: readonly number[]): number[] {
  return list.toSorted((a, b) => a - b);
}

/** Text of `length` code points. */
export function textOf(length: number, character = 'x'): string {
  return character.repeat(length);
}

/** The stored row of a job that has to be there. */
export function rowOf(rows: readonly JobRow[], id: number): JobRow {
  const row = rows.find((candidate) => candidate.id === id);
  ok(row !== undefined, `job ${id} has to be among the stored jobs, which are ${ids(rows).join(', ') || 'none'}`);
  return row;
}

/** The one row there has to be. */
export function only<T>(rows: readonly T[], where = 'the failed store'): T {
  const [row] = rows;
  ok(row !== undefined && rows.length === 1, `there has to be one row in ${where}; there are ${rows.length}`);
  return row;
}

export interface Failing {
  readonly error: string;
  readonly job?: Partial<NewJob>;
}

/** Pushes a job, claims it and fails it. */
export async function failOne(driver: QueueDriver, { error, job }: Failing): Promise<void> {
  const pushed = aJob(job);
  await driver.push(pushed);
  await driver.fail(await reserveOne(driver, { queue: pushed.queue }), error);
}

/** The errors of the failed rows, in the order of the report. */
export async function failedErrors(driver: QueueReports, limit = 100): Promise<string[]> {
  return (await driver.failedRows(limit)).map(({ error }) => error);
}

/**
 * A call begun beside others, and some turns of the event loop for it to reach the store. What a case says is true with
 * any number of turns; without them a broken driver might be lucky. Should the call be refused before somebody looks,
 * that is not an unhandled rejection.
 */
export async function begun<T>(call: Promise<T>): Promise<{ readonly answer: Promise<T> }> {
  call.catch(() => {});
  for (let count = 0; count < 10; count += 1) await turn();
  return { answer: call };
}

/** One turn of the event loop and a millisecond, so that what others have begun goes on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The shortest turn of the event loop there is: for who is not to fall behind what others have begun. */
export function shortTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
