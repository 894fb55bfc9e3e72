import type { ReservedJob } from '@q/core';
import { Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { faultsOfSchedule } from '../src/run-schedule.js';
import { gate } from '../src/store.js';
import { TestTime } from '../src/test-time.js';

describe('any schedule of faults, handlers and stops', () => {
  it('loses no job and ends each attempt once', async () => {
    for (let seed = 1_000; seed < 1_200; seed += 1) expect([seed, await faultsOfSchedule(seed)]).toEqual([seed, []]);
  });
});

describe('130,000 jobs in hand at once', () => {
  it('keep their claims', async () => {
    const count = 130_000;
    const jobs = Array.from(
      { length: count },
      (_, n): ReservedJob => ({
        id: n + 1,
        queue: 'default',
        name: 'a',
        payload: {},
        payloadJson: '{}',
        attempts: 1,
        maxAttempts: 3,
        handle: '',
        reclaimed: false,
      }),
    );
    let extended = 0;
    const driver = {
      push: async () => 1,
      pushMany: async () => [],
      reserve: async () => null,
      reserveMany: async () => jobs.splice(0),
      delete: async () => true,
      deleteMany: async () => [],
      release: async () => true,
      fail: async () => true,
      pending: async () => 0,
      extend: async () => true,
      extendMany: async (claims: readonly unknown[]) => {
        extended += claims.length;
        return [];
      },
    };
    const { opened, open } = gate();
    const time = new TestTime();
    const worker = new Worker({
      queue: { driver, handlers: { a: { handle: () => opened } }, backoff: () => 1 },
      concurrency: count,
      timeout: 0,
      stopWhenEmpty: true,
      clock: time,
    });
    let done = 0;
    worker.on('job_done', () => {
      done += 1;
    });
    const run = worker.run();
    await time.advance(20_000);
    expect(extended).toBe(count);
    open();
    await time.settle();
    expect(await run).toBe(0);
    expect(done).toBe(count);
  });
});
