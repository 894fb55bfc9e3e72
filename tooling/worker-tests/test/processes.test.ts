import { describe, expect, it } from 'vitest';
import { openFileStore } from '../src/processes.js';

const inWorker = { sleep: 0.1, lease: 1, signals: true };

describe('a worker process', () => {
  it('that a handler kills is restarted by its supervisor: three starts, one failed row, twenty healthy jobs done', async () => {
    await using store = await openFileStore();
    const poison = await store.push('kill');
    for (let n = 0; n < 20; n += 1) await store.push('quick');
    let deaths = 0;
    const total = async () => (await store.driver.stats()).reduce((sum, each) => sum + each.total, 0);
    while ((await total()) > 0) {
      const worker = store.start({ ...inWorker, concurrency: 4, stopWhenEmpty: true });
      const { signal } = await worker.exited;
      if (signal === 'SIGKILL') deaths += 1;
      expect(deaths).toBeLessThan(10);
    }
    const notes = store.notes();
    expect(notes.filter(({ name, what }) => name === 'kill' && what === 'start').map(({ attempt }) => attempt)).toEqual(
      [1, 2, 3],
    );
    expect(deaths).toBe(3);
    expect(new Set(notes.filter(({ name, what }) => name === 'quick' && what === 'end').map(({ id }) => id)).size).toBe(
      20,
    );
    expect(await store.driver.failedRows(10)).toMatchObject([
      { name: 'kill', attempts: 4, error: 'The worker running the last attempt died or lost its claim' },
    ]);
    expect(poison).toBe(1);
  }, 40_000);

  it('that is killed with five jobs in hand has them finished by another within 6 s at a lease of 2 s', async () => {
    await using store = await openFileStore();
    for (let n = 0; n < 5; n += 1) await store.push('slow', { ms: 300 });
    const victim = store.start({ lease: 2, sleep: 0.1, concurrency: 5 });
    await store.until('five handlers started', () => store.notes().length === 5);
    victim.child.kill('SIGKILL');
    const killedMs = performance.now();
    store.start({ lease: 2, sleep: 0.1, concurrency: 5 });
    await store.until('all done', async () => (await store.driver.stats()).length === 0);
    expect(performance.now() - killedMs).toBeLessThan(6_000);
    expect(await store.driver.failedCount()).toBe(0);
  });

  it('whose handler blocks the event loop past the lease loses the job to another, and says how long it was blocked', async () => {
    await using store = await openFileStore();
    const id = await store.push('block', { ms: 3_000 });
    const blocked = store.start(inWorker);
    await store.until('the handler blocks', () => store.notes().length === 1);
    await store.push('quick');
    const other = store.start(inWorker);
    await store.until('taken over', () => store.notes().some(({ name, attempt }) => name === 'block' && attempt === 2));
    await store.until('reported', () => blocked.lines().some((line) => line.includes('claim had been lost')));
    const line = blocked.lines().find((each) => each.includes('claim had been lost')) ?? '';
    expect(line).toMatch(
      new RegExp(
        `^error: block #${id} was done, but its claim had been lost \\(the event loop was blocked for \\d+ms\\)$`,
      ),
    );
    expect(Number(/(\d+)ms/.exec(line)?.[1])).toBeGreaterThanOrEqual(2_000);
    await store.until('the other finished it', async () => (await store.driver.stats()).length === 0);
    expect(other.lines()).toContain(`-> block #${id} (attempt 2/3)`);
  });

  it('stopped for three leases and continued reports its job lost and takes new jobs within 2 s', async () => {
    await using store = await openFileStore();
    const id = await store.push('slow', { ms: 600 });
    const stopped = store.start(inWorker);
    await store.until('the handler runs', () => store.notes().length === 1);
    stopped.child.kill('SIGSTOP');
    const other = store.start(inWorker);
    await store.until('taken over', () => store.notes().some(({ attempt }) => attempt === 2));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    other.child.kill('SIGTERM');
    expect((await other.exited).code).toBe(0);
    stopped.child.kill('SIGCONT');
    const continuedMs = performance.now();
    await store.push('quick');
    await store.until('the new job is done', () =>
      store.notes().some(({ name, what }) => name === 'quick' && what === 'end'),
    );
    expect(performance.now() - continuedMs).toBeLessThan(2_000);
    await store.until('the old one is reported', () =>
      stopped.lines().some((line) => line.startsWith(`error: slow #${id} was`) && line.includes('claim had been lost')),
    );
    expect(await store.driver.failedCount()).toBe(0);
  });

  it('asked by SIGTERM finishes its job and exits with 0', async () => {
    await using store = await openFileStore();
    await store.push('slow', { ms: 2_000 });
    await store.push('quick');
    const worker = store.start({ signals: true });
    await store.until('the handler runs', () => store.notes().length === 1);
    worker.child.kill('SIGTERM');
    const { code, signal } = await worker.exited;
    expect([code, signal]).toEqual([0, null]);
    expect(store.notes().map(({ what, name }) => `${what} ${name}`)).toEqual(['start slow', 'end slow']);
    expect(
      worker
        .lines()
        .slice(-3)
        .map((line) => line.replace(/\d+ms/, 'Nms')),
    ).toEqual(['Stopping: asked to shut down', '   done in Nms', 'Ran 1 job']);
  });

  it('asked twice puts its job back, claimable at once, and exits within a second', async () => {
    await using store = await openFileStore();
    const id = await store.push('slow', { ms: 60_000 });
    const worker = store.start({ signals: true });
    await store.until('the handler runs', () => store.notes().length === 1);
    worker.child.kill('SIGTERM');
    await store.until('it is stopping', () => worker.lines().includes('Stopping: asked to shut down'));
    const askedMs = performance.now();
    worker.child.kill('SIGTERM');
    const { code, atMs } = await worker.exited;
    expect(code).toBe(0);
    expect(atMs - askedMs).toBeLessThan(1_000);
    expect(await store.driver.reserve(['default'], 60, 'next')).toMatchObject({ id, attempts: 2, reclaimed: false });
  });

  it('exits by itself when its work is done', async () => {
    await using store = await openFileStore();
    await store.push('quick');
    const worker = store.start({ stopWhenEmpty: true });
    await store.until('it says that it ran', () => worker.lines().includes('Ran 1 job'));
    const doneMs = performance.now();
    const { code, atMs } = await worker.exited;
    expect(code).toBe(0);
    expect(atMs - doneMs).toBeLessThan(1_000);
  });
});
