import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../src/processes.js';

describe('importing core', () => {
  it('takes no signal and no event of the process', async () => {
    const script = `
      const names = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'uncaughtException', 'unhandledRejection', 'beforeExit', 'exit'];
      const count = () => names.map((name) => process.listenerCount(name)).join();
      const before = count();
      const { Worker } = await import('@q/core');
      const driver = { push() {}, async reserve() { return null; }, delete() {}, release() {}, fail() {}, async pending() { return 0; } };
      const worker = new Worker({ queue: { driver, handlers: {}, backoff: () => 1 }, timeout: 1 });
      const run = worker.run();
      await worker.stop();
      await run;
      console.log(before === count() ? 'unchanged' : before + ' ' + count());
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout.trim()).toBe('unchanged');
  });
});

describe('a worker process', () => {
  it('asked twice exits within a second although its handler goes on for ever', async () => {
    await using store = await openFileStore();
    const id = await store.push('deaf');
    const worker = store.start({ signals: true });
    await store.until('the handler runs', () => store.notes().length === 1);
    worker.child.kill('SIGTERM');
    await store.until('it is stopping', () => worker.lines().includes('Stopping: asked to shut down'));
    const askedMs = performance.now();
    worker.child.kill('SIGINT');
    const { code, atMs } = await worker.exited;
    expect(code).toBe(0);
    expect(atMs - askedMs).toBeLessThan(1_000);
    expect(await store.driver.reserve(['default'], 60, 'next')).toMatchObject({ id, attempts: 2, reclaimed: false });
  });

  it('asked twice exits by itself while the store is locked, and says what was left', async () => {
    await using store = await openFileStore();
    const id = await store.push('deaf');
    const worker = store.start({ signals: true });
    await store.until('the handler runs', () => store.notes().length === 1);
    using _ = store.lock();
    worker.child.kill('SIGTERM');
    await store.until('it is stopping', () => worker.lines().includes('Stopping: asked to shut down'));
    const askedMs = performance.now();
    worker.child.kill('SIGTERM');
    const { code, atMs } = await worker.exited;
    expect(code).toBe(0);
    expect(atMs - askedMs).toBeLessThan(1_500);
    expect(worker.lines().slice(-2)).toEqual([
      `error: deaf #${id} was released, which could not be recorded; it will run again: The worker left before the store had answered`,
      'Ran 1 job',
    ]);
  });

  it('lives through a store that is locked by another, and loses nothing', async () => {
    await using store = await openFileStore();
    for (let n = 0; n < 3; n += 1) await store.push('slow', { ms: 300 });
    const worker = store.start({ signals: true, sleep: 0.1, lease: 2, concurrency: 2, stopWhenEmpty: true });
    await store.until('two handlers run', () => store.notes().length === 2);
    const lock = store.lock();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    lock[Symbol.dispose]();
    expect((await worker.exited).code).toBe(0);
    expect(store.notes().filter(({ what }) => what === 'end')).toHaveLength(3);
    expect(await store.driver.failedCount()).toBe(0);
  });

  it('takes a signal that comes while it starts, or while it ends, without harm', async () => {
    await using store = await openFileStore();
    for (const delayMs of [0, 60, 90, 120, 150, 200]) {
      await store.push('quick');
      const worker = store.start({ signals: true, stopWhenEmpty: true });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      worker.child.kill('SIGTERM');
      const { code, signal } = await worker.exited;
      // Before the run has taken the signals, and after it has given them back, the process is the system's to end.
      if (signal === null) expect(code).toBe(0);
      else expect(worker.lines().at(-1) ?? 'nothing').toMatch(/^nothing$|^Ran \d jobs?$/);
    }
    expect(await store.driver.failedCount()).toBe(0);
  });
});
