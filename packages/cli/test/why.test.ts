import { describe, expect, it } from 'vitest';
import { aFailedJob, type StoreProject, sqlite } from './stores.js';

const MOMENT = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g;

async function why(store: StoreProject, id: number): Promise<string> {
  const { code, stdout, stderr } = await store.q(['why', String(id)]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.replace(MOMENT, '<moment>');
}

describe('q why', () => {
  it('says that a job is done, or was never pushed', async () => {
    await using store = await sqlite.open();
    expect(await why(store, 7)).toBe('Job 7 is not there: it is done, or was never pushed.\n');
    await aFailedJob(store);
    expect(await why(store, 7)).toBe(
      'Job 7 is not there: it is done, was never pushed, or is a failed job, which has an id of its own (see q failed).\n',
    );
  });

  it('says when a job failed, and the first line of its error', async () => {
    await using store = await sqlite.open();
    const id = await aFailedJob(store, { error: 'Error: no such mailbox\n    at send' });
    expect(await why(store, id)).toBe(
      `No job ${id} is queued; failed job ${id} (boom) failed at <moment> UTC: Error: no such mailbox\n`,
    );
  });

  it('says until when a job is delayed, and after which failure', async () => {
    await using store = await sqlite.open();
    const id = await store.push('quick', {}, { delay: 60, maxAttempts: 3 });
    expect(await why(store, id)).toBe(`Job ${id} (quick) is delayed until <moment> UTC.\n`);
    const other = await store.push('boom', {}, { queue: 'mail', maxAttempts: 3 });
    const claim = await store.driver.reserve(['mail'], 60, 'tester');
    if (claim !== null) await store.driver.release(claim, 60, 'Error: no\n    at send');
    expect(await why(store, other)).toBe(
      `Job ${other} (boom) is delayed until <moment> UTC, after attempt 1 of 3 failed: Error: no.\n`,
    );
  });

  it('says who holds a job, and that a claim has expired', async () => {
    await using store = await sqlite.open();
    const id = await store.push('quick');
    await store.driver.reserve(['default'], 60, 'host:12');
    expect(await why(store, id)).toBe(`Job ${id} (quick) is held by host:12 until <moment> UTC.\n`);
    const other = await store.push('quick', {}, { queue: 'mail' });
    await store.driver.reserve(['mail'], 0, 'host:13');
    expect(await why(store, other)).toBe(
      `The claim of host:13 on job ${other} (quick) expired at <moment> UTC, and it is next in queue mail, waiting for a worker.\n`,
    );
  });

  it('says how many jobs are before it in its queue', async () => {
    await using store = await sqlite.open();
    const [first, second, third] = [await store.push('quick'), await store.push('quick'), await store.push('quick')];
    expect(await why(store, first)).toBe(`Job ${first} (quick): it is next in queue default, waiting for a worker.\n`);
    expect(await why(store, second)).toBe(`Job ${second} (quick): it is waiting behind 1 job in queue default.\n`);
    expect(await why(store, third)).toBe(`Job ${third} (quick): it is waiting behind 2 jobs in queue default.\n`);
  });

  it('says that no handler is registered, or only a declaration', async () => {
    await using store = await sqlite.open();
    const id = await store.push('unheard-of');
    expect(await why(store, id)).toBe(
      `Job ${id} (unheard-of): it is next in queue default, waiting for a worker; a worker will fail it, because no handler is registered under unheard-of.\n`,
    );
    const declared = await store.push('elsewhere', {}, { queue: 'mail', delay: 60 });
    expect(await why(store, declared)).toContain('because no handler is registered under elsewhere.\n');
    const inherited = await store.push('constructor', {}, { queue: 'other' });
    expect(await why(store, inherited)).toContain('because no handler is registered under constructor.\n');
  });
});
