import type { ChildProcess } from 'node:child_process';
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { startRedis } from '@q/servers';
import { expect, it, onTestFinished } from 'vitest';
import { aJob, messageOf, open, pause, start, until } from './fixtures.js';

const WORKERS = 8;
const JOBS = 50_000;

it('The jobs of workers that are killed are run by another one when their claims have expired', async () => {
  const server = await startRedis({ own: true });
  onTestFinished(() => server.close());
  const { driver, prefix } = open({ url: server.url, now: () => new Date() });
  const ids = await driver.pushMany(Array.from({ length: 5 }, () => aJob({ name: 'work' })));
  const children = ids.map(() => start('claim', server.url, prefix, 'default'));
  expect(await Promise.all(children.map((child) => messageOf(child)))).toStrictEqual(Array(5).fill('claimed'));
  for (const child of children) child.kill('SIGKILL');
  const ran = new Map<number, number>();
  const handlers = defineHandlers({ work: handler(async (_, job) => void ran.set(job.id, job.attempts)) });
  const worker = new Worker({ queue: new Queue({ driver, handlers }), sleep: 0.2 });
  const run = worker.run();
  await until('all were run', () => ran.size === 5);
  await worker.stop();
  await run;
  expect([...ran].toSorted()).toStrictEqual(ids.map((id) => [id, 2]).toSorted());
  expect(await driver.pending()).toBe(0);
});

it(`${WORKERS} workers, one of them killed every second, run ${JOBS} jobs: none is lost, none is in two hands at once`, async () => {
  const server = await startRedis({ own: true });
  onTestFinished(() => server.close());
  const { driver, raw, stored, prefix } = open({ url: server.url, now: () => new Date() });
  // As it is when everything has been used once.
  await driver.delete((await pushedAndClaimed()) ?? { id: 0, attempts: 0, handle: '' });
  const before = { keys: await stored.keys(), bytes: await stored.bytes() };

  async function pushedAndClaimed() {
    await driver.push(aJob());
    return driver.reserve(['default'], 60, 'w');
  }

  const launch = async () => {
    // A lease that a worker which is only starved of its processor does not lose.
    const child = start('work', server.url, prefix, 10, 'high,default', 5);
    await messageOf(child);
    return child;
  };
  const workers: ChildProcess[] = await Promise.all(Array.from({ length: WORKERS }, launch));
  let pushed = 0;
  const pushing = (async () => {
    for (; pushed < JOBS; pushed += 500) {
      const batch = Array.from({ length: 500 }, (_, index) => {
        const n = pushed + index;
        return aJob({
          name: 'work',
          payload: { n },
          queue: n % 10 === 0 ? 'high' : 'default',
          priority: n % 3,
          delay: n % 50 === 0 ? 2 : 0,
          unique: n % 7 === 0 ? `k${n}` : null,
          maxAttempts: 1_000,
        });
      });
      await driver.pushMany(batch);
      while ((await driver.pending()) > 5_000) await pause(50);
    }
  })();

  let kills = 0;
  const launching: Promise<unknown>[] = [];
  const done = async () => raw.scard('done');
  const started = performance.now();
  for (let second = 1; (await done()) < JOBS || kills < 10; second += 1) {
    if (second > 500) throw new Error(`after 500 s ${await done()} of ${JOBS} are done`);
    await pause(started + second * 1_000 - performance.now());
    // On a machine that is busy with other things, a worker may take longer to start than it would be let live.
    const victim = workers.length > WORKERS / 2 ? workers.shift() : undefined;
    if (victim === undefined) continue;
    victim.kill('SIGKILL');
    await raw.srem('alive', String(victim.pid));
    kills += 1;
    launching.push(launch().then((worker) => workers.push(worker)));
  }
  await Promise.all(launching);
  await pushing;
  await until('nothing is left', async () => (await stored.jobs()).length === 0, 30_000);
  const stopped = workers.map((worker) => messageOf(worker));
  for (const worker of workers) worker.send('stop');
  expect(await Promise.all(stopped)).toStrictEqual(Array(WORKERS).fill('stopped'));

  const runs = Number(await raw.get('runs'));
  console.log(
    `${JOBS} jobs in ${Math.round(performance.now() - started)} ms, ${kills} kills, ${runs - JOBS} run again`,
  );
  expect([await done(), await raw.scard('twice')]).toStrictEqual([JOBS, 0]);
  expect(await stored.failed()).toStrictEqual([]);
  expect(await stored.keys()).toStrictEqual(before.keys);
  expect(await stored.bytes()).toBeLessThanOrEqual(before.bytes * 1.05);
});
