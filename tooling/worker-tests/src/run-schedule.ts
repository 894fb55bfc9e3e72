import { faultsIn, lostJobs, Schedule } from './schedule.js';
import { openStore } from './store.js';

/** Runs the schedule of a seed: faults, stops, runs that follow each other, then calm. What is wrong afterwards. */
export async function faultsOfSchedule(seed: number): Promise<string[]> {
  await using store = await openStore();
  const schedule = new Schedule(seed, store);
  const jobs = await schedule.push();
  const slots = [1, 1 + schedule.upTo(5)];
  const workers = slots.map((concurrency, n) => schedule.worker(`worker ${n}`, concurrency));
  const running = new Set<number>();
  const startIdle = (share: number) => {
    for (const [n, { worker }] of workers.entries()) {
      if (running.has(n) || !schedule.chance(share)) continue;
      running.add(n);
      void worker.run().then(() => running.delete(n));
    }
  };
  for (let step = 0; step < 60; step += 1) {
    startIdle(0.5);
    for (const { worker } of workers) {
      if (schedule.chance(0.1)) void worker.stop(schedule.chance(0.5) ? {} : { timeout: 0.5 });
    }
    if (schedule.chance(0.05)) store.time.jump(schedule.upTo(40_000));
    await store.time.advance(schedule.upTo(8_000));
  }
  for (let round = 0; round < 20; round += 1) {
    startIdle(1);
    await store.time.advance(30_000);
  }
  const stops = workers.map(({ worker }) => worker.stop({ timeout: 5 }));
  await store.time.advance(10_000);
  await Promise.all(stops);
  return [
    ...[...running].map((n) => `worker ${n} runs on`),
    ...workers.flatMap(({ events }, n) => faultsIn(events, slots[n] ?? 0)),
    ...lostJobs(store, jobs, workers).map((id) => `job ${id} is lost`),
    ...store.rows().flatMap(({ id, reserved_until }) => (reserved_until === null ? [] : [`job ${id} is held`])),
  ];
}
