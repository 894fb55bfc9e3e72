import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Counting } from './counting.js';
import { quantile } from './statistics.js';
import type { Subject, WorkOptions } from './subject.js';

export const SCENARIOS = ['push', 'push20', 'bulk', 'drain', 'drain1', 'pickup'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export const TITLES: Readonly<Record<Scenario, string>> = {
  push: 'push 1 by 1, jobs/s',
  push20: 'push, 20 in flight, jobs/s',
  bulk: 'bulk push, jobs/s',
  drain: 'drain, best configuration, first batch to last effect, jobs/s',
  drain1: 'drain, concurrency 1, first batch to last effect, jobs/s',
  pickup: 'pickup by an idle worker in another process, p50 ms',
};

export interface Result {
  /** Jobs per second, or milliseconds. */
  readonly value: number;
  /** Other figures of the same run, by name. */
  readonly also: Readonly<Record<string, number>>;
}

const WARM_UP = 200;
const BULK = 1000;
const STALL_SECONDS = 15;

/** What a measurement's process does first, where the jobs have to be there before. */
export async function fill(subject: Subject, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += BULK) await subject.pushMany(range(from, Math.min(from + BULK, jobs)));
}

/** Throws what is wrong where a job was lost or doubled. */
export async function measure(scenario: Scenario, subject: Subject, jobs: number, argument: string): Promise<Result> {
  if (scenario === 'drain') return drain(subject, jobs, 'best');
  if (scenario === 'drain1') return drain(subject, jobs, 'one');
  if (scenario === 'pickup') return pickup(subject, jobs, argument);
  await subject.pushMany(range(0, WARM_UP));
  for (let job = 0; job < WARM_UP; job++) await subject.push(job);
  const seconds = await timed(() => push(scenario, subject, jobs));
  const stored = (await subject.count()) - 2 * WARM_UP;
  if (stored !== jobs) throw new Error(`${jobs} were pushed and ${stored} are stored`);
  return { value: jobs / seconds, also: {} };
}

async function push(scenario: 'push' | 'push20' | 'bulk', subject: Subject, jobs: number): Promise<void> {
  if (scenario === 'bulk') return fill(subject, jobs);
  let next = 0;
  const pusher = async () => {
    while (next < jobs) await subject.push(next++);
  };
  await Promise.all(Array.from({ length: scenario === 'push' ? 1 : 20 }, pusher));
}

async function drain(subject: Subject, jobs: number, concurrency: WorkOptions['concurrency']): Promise<Result> {
  const batch = concurrency === 'best' ? subject.batch : 1;
  if (jobs <= batch) throw new Error(`${jobs} jobs are all in the first batch of ${batch}`);
  const counting = new Counting(jobs, batch);
  await subject.work({ concurrency, effect: (job) => counting.effect(job), until: finished(counting) });
  // From the start of the process, and until the worker had recorded what it ran.
  const totalSeconds = performance.now() / 1000;
  const fault = counting.fault(await subject.count());
  if (fault !== null) throw new Error(`of ${jobs} jobs: ${fault}`);
  return {
    value: counting.rate,
    also: { 'with start and stop, jobs/s': jobs / totalSeconds },
  };
}

/** Also when nothing has happened for so long that nothing will. */
async function finished(counting: Counting): Promise<void> {
  const abort = new AbortController();
  const stalled = async () => {
    for (let before = -1; before !== counting.distinct; ) {
      before = counting.distinct;
      await sleep(STALL_SECONDS * 1000, undefined, { signal: abort.signal });
    }
  };
  await Promise.race([counting.complete, stalled().catch(() => {})]);
  abort.abort();
}

/** Both processes read the machine's monotonic clock. */
async function pickup(subject: Subject, jobs: number, argument: string): Promise<Result> {
  const worker = fork(fileURLToPath(new URL('./measurement-process.js', import.meta.url)), [argument, 'worker']);
  const counting = new Counting(jobs);
  const pushedAt: bigint[] = [];
  const latencies: number[] = [];
  let heard: () => void = () => {};
  worker.on('message', ({ job, at }: { job: number; at: string }) => {
    counting.effect(job);
    latencies.push(Number(BigInt(at) - (pushedAt[job] ?? 0n)) / 1e6);
    heard();
  });
  const exited = once(worker, 'exit');
  for (let job = 0; job < jobs; job++) {
    // Long enough that the worker waits again; of no even length, so that it meets every phase of a poll.
    await sleep(job === 0 ? 500 : 20 + Math.random() * 20);
    const answered = new Promise<void>((resolve) => {
      heard = resolve;
    });
    pushedAt[job] = process.hrtime.bigint();
    await subject.push(job);
    await Promise.race([answered, sleep(STALL_SECONDS * 1000, undefined, { ref: false })]);
  }
  if (worker.connected) worker.send('stop');
  await exited;
  const fault = counting.fault(await subject.count());
  if (fault !== null) throw new Error(`of ${jobs} jobs: ${fault}`);
  const warm = latencies.slice(Math.floor(jobs / 10));
  return { value: quantile(warm, 0.5), also: { 'p95 ms': quantile(warm, 0.95) } };
}

async function timed(deed: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await deed();
  return (performance.now() - start) / 1000;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
