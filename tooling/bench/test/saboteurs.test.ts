import { expect, test } from 'vitest';
import { measure } from '../src/scenarios.js';
import type { Subject } from '../src/subject.js';

/** Keeps jobs in memory, and runs each as often as `times` says. */
function subject(times: (job: number) => number): Subject {
  const jobs: number[] = [];
  return {
    batch: 1,
    install: async () => {},
    push: async (job) => void jobs.push(...Array(times(job)).fill(job)),
    pushMany: async (pushed) => void jobs.push(...pushed),
    count: async () => jobs.length,
    async work({ effect, until }) {
      for (const job of jobs.splice(0)) for (let time = 0; time < times(job); time++) effect(job);
      await until;
    },
    close: async () => {},
  };
}

async function drained(times: (job: number) => number) {
  const one = subject(times);
  await one.pushMany([0, 1, 2, 3]);
  return measure('drain', one, 4, '');
}

test('A drain in which every job had its effect once gives a rate', async () => {
  expect((await drained(() => 1)).value).toBeGreaterThan(0);
});

test('A drain that doubles a job has failed', async () => {
  await expect(drained((job) => (job === 2 ? 2 : 1))).rejects.toThrow('of 4 jobs: 1 doubled');
});

test('A push that stores nothing, or twice, has failed', async () => {
  await expect(
    measure(
      'push',
      subject((job) => (job === 250 ? 0 : 1)),
      300,
      '',
    ),
  ).rejects.toThrow('300 were pushed and 299 are stored');
  await expect(
    measure(
      'push',
      subject((job) => (job === 250 ? 2 : 1)),
      300,
      '',
    ),
  ).rejects.toThrow('300 were pushed and 301 are stored');
});
