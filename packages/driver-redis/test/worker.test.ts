import { defineHandlers, handler, type Job, Queue, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { open, pause, until } from './fixtures.js';

type Data = { readonly n: number };

describe('a worker', () => {
  it('runs jobs, retries those that throw, fails those that throw too often, and puts back what was released', async () => {
    const { driver, stored } = open({ now: () => new Date() });
    const seen: string[] = [];
    const noted = (run: (data: Data, job: Job<Data>) => unknown) =>
      handler(async (data: Data, job: Job<Data>) => {
        seen.push(`${job.name} ${data.n} attempt ${job.attempts}`);
        await run(data, job);
      });
    const handlers = defineHandlers({
      good: noted(() => {}),
      second: noted((_, job) => {
        if (job.attempts === 1) throw new Error('not yet');
      }),
      never: noted(() => {
        throw new Error('never');
      }),
      later: noted((_, job) => {
        if (job.attempts === 1) job.release(0);
      }),
    });
    const queue = new Queue({ driver, handlers, backoff: 0, tries: 2 });
    const names = ['good', 'second', 'never', 'later'] as const;
    for (const [n, name] of names.entries()) await queue.push(name, { n }, { priority: n % 2, unique: name });
    await queue.pushMany([{ name: 'good', payload: { n: 9 } }]);
    expect(await new Worker({ queue, concurrency: 3, stopWhenEmpty: true, sleep: 0.05 }).run()).toBe(0);
    expect(seen.toSorted()).toStrictEqual([
      'good 0 attempt 1',
      'good 9 attempt 1',
      'later 3 attempt 1',
      'later 3 attempt 2',
      'never 2 attempt 1',
      'never 2 attempt 2',
      'second 1 attempt 1',
      'second 1 attempt 2',
    ]);
    const failed = await stored.failed();
    expect(failed.map(({ name, attempts }) => [name, attempts])).toStrictEqual([['never', 2]]);
    expect(failed[0]?.error).toContain('Error: never');
    const left = ['id', 'failed', 'failed:jobs'].map((key) => stored.key(key)).toSorted();
    expect(await stored.keys()).toStrictEqual(left);
  });

  it('starts a job as soon as it is pushed, though it sleeps for a minute between looks', async () => {
    const { driver, another } = open({ now: () => new Date() });
    const started: number[] = [];
    const handlers = defineHandlers({ a: handler(async ({ n }: Data) => void started.push(performance.now() - n)) });
    const workers = [1, 2, 3].map(
      () => new Worker({ queue: new Queue({ driver: another(), handlers }), sleep: 60, concurrency: 2 }),
    );
    const runs = workers.map((worker) => worker.run());
    await pause(200);
    const queue = new Queue({ driver, handlers });
    for (let round = 1; round <= 10; round += 1) {
      await queue.push('a', { n: performance.now() });
      await until('it was run', () => started.length === round);
      await pause(10);
    }
    await queue.pushMany(Array.from({ length: 12 }, () => ({ name: 'a' as const, payload: { n: performance.now() } })));
    await until('all were run', () => started.length === 22);
    expect(Math.min(...started)).toBeLessThan(1_000);
    expect(Math.max(...started)).toBeLessThan(15_000);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(await Promise.all(runs)).toStrictEqual([0, 0, 0]);
  });

  it('keeps the claim on a job that runs for longer than its lease', async () => {
    const { driver, another } = open({ now: () => new Date() });
    let runs = 0;
    const handlers = defineHandlers({
      slow: handler(async (_: Data) => {
        runs += 1;
        await pause(3_500);
      }),
    });
    const queues = [driver, another()].map((one) => new Queue({ driver: one, handlers }));
    const workers = queues.map((queue) => new Worker({ queue, lease: 1, sleep: 0.1 }));
    await queues[0]?.push('slow', { n: 1 });
    const ended = workers.map((worker) => worker.run());
    await pause(3_000);
    expect([runs, await driver.pending()]).toStrictEqual([1, 0]);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect([runs, await Promise.all(ended)]).toStrictEqual([1, [0, 0]]);
  });
});
