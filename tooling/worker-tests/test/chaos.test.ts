import { describe, expect, it } from 'vitest';
import { openFileStore } from '../src/processes.js';

const inWorker = { sleep: 0.1, lease: 1, stopWhenEmpty: true };

describe('a worker process with chaos', () => {
  it('runs every job once more for as long as it has attempts, and then it is done', async () => {
    await using store = await openFileStore();
    const id = await store.push('quick', {}, 3);
    const once = await store.push('quick', {}, 1);
    const worker = store.start({ ...inWorker, chaos: { deliverTwice: 1 } });
    expect(await worker.exited).toMatchObject({ code: 0 });
    const ends = store.notes().filter(({ what }) => what === 'end');
    expect(ends.filter((each) => each.id === id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(ends.filter((each) => each.id === once).map(({ attempt }) => attempt)).toEqual([1]);
    expect(worker.lines().filter((line) => line === '   put back by chaos')).toHaveLength(2);
    expect(await store.driver.stats()).toEqual([]);
    expect(await store.driver.failedCount()).toBe(0);
  });

  it('is killed between a handler and its record, and another runs the job again', async () => {
    await using store = await openFileStore();
    const id = await store.push('quick');
    const doomed = store.start({ ...inWorker, chaos: { dieAfterHandler: 1 } });
    expect(await doomed.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(doomed.lines()).toContain(`Stopping: chaos kills the process after quick #${id}`);
    expect(store.notes().map(({ what, attempt }) => `${what} ${attempt}`)).toEqual(['start 1', 'end 1']);
    store.start({ sleep: 0.1, lease: 1, maxJobs: 1 });
    await store.until('another has run it', async () => (await store.driver.stats()).length === 0);
    expect(
      store
        .notes()
        .map(({ what, attempt }) => `${what} ${attempt}`)
        .slice(2),
    ).toEqual(['start 2', 'end 2']);
  });

  it('does not start in production', async () => {
    await using store = await openFileStore();
    const worker = store.start({ ...inWorker, chaos: {} }, { NODE_ENV: 'production' });
    expect(await worker.exited).toMatchObject({ code: 1 });
    expect(worker.lines().join('\n')).toContain('chaos is for staging and tests');
  });
});
