import { job, describe as line, Queue, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { faulty } from '../src/faults.js';
import { gate, openStore, workerOn } from '../src/store.js';

describe('a worker runs jobs', () => {
  it('deletes a job whose handler returned, and tells its whole life in the lines of the CLI', async () => {
    await using store = await openStore();
    const id = await store.push('send-invoice');
    const { worker, events } = workerOn(
      store,
      { 'send-invoice': () => new Promise<void>((resolve) => store.time.after(214, resolve)) },
      { queues: ['high', 'default'], stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.advance(214);
    expect(await run).toBe(0);
    expect(events.map((event) => line(event))).toEqual([
      'Worker tester watching high, default',
      `-> send-invoice #${id} (attempt 1/3)`,
      '   done in 214ms',
      'Nothing left to do',
      'Ran 1 job',
    ]);
    expect(store.rows()).toEqual([]);
  });

  it('gives the handler the job as it was pushed, with eight own fields, and the very payload', async () => {
    await using store = await openStore();
    const id = await store.driver.push({
      name: 'a',
      payload: { n: 7 },
      delay: 0,
      queue: 'default',
      priority: 0,
      unique: null,
      maxAttempts: 2,
    });
    const seen: unknown[] = [];
    const { worker } = workerOn(store, {
      a: (payload, job) => {
        seen.push(Object.keys(job).sort(), job.payload === payload, job.reclaimed, job.isLastAttempt());
        seen.push([job.id, job.queue, job.name, job.payloadJson, job.attempts, job.maxAttempts, job.handle]);
      },
    });
    expect(await worker.runNext()).toBe(true);
    expect(seen).toEqual([
      ['attempts', 'handle', 'id', 'maxAttempts', 'name', 'payload', 'payloadJson', 'queue'],
      true,
      false,
      false,
      [id, 'default', 'a', '{"n":7}', 1, 2, ''],
    ]);
  });

  it('puts a job that threw back for its backoff, with the error, and runs it again when that is over', async () => {
    await using store = await openStore();
    const id = await store.push('a');
    let runs = 0;
    const fail = () => {
      runs += 1;
      if (runs === 1) throw new TypeError('no mailbox');
    };
    const { worker, events } = workerOn(store, { a: fail }, { backoff: [90], sleep: 1 });
    const run = worker.run();
    await store.time.settle();
    expect(events.map((event) => line(event)).at(-1)).toBe('   failed, retrying in 90s: no mailbox');
    const [row] = store.rows();
    expect(row).toMatchObject({ id, attempts: 1, available_at: '2027-01-01 00:01:30', reserved_until: null });
    expect(row?.last_error).toMatch(/^TypeError: no mailbox\n {4}at /);
    await store.time.advance(89_000);
    expect(runs).toBe(1);
    await store.time.advance(2_000);
    expect(runs).toBe(2);
    expect(store.rows()).toEqual([]);
    await worker.stop();
    expect(await run).toBe(0);
  });

  it('moves a job whose last attempt threw to the failed table, and a failed job leaves the exit code alone', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    const { worker, events } = workerOn(
      store,
      {
        a: () => {
          throw new Error('550 no such mailbox\nat all');
        },
      },
      { stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(events.map((event) => line(event))).toContain('   failed for good: 550 no such mailbox');
    expect(await store.failed()).toMatchObject([{ name: 'a', attempts: 1, queue: 'default', payloadJson: '{}' }]);
    expect((await store.failed())[0]?.error).toMatch(/^Error: 550 no such mailbox\nat all\n {4}at /);
  });

  it('puts a released job back without an error, as often as its handler asks, whatever its number of attempts', async () => {
    await using store = await openStore();
    const id = await store.push('a', { maxAttempts: 1 });
    const { worker, told } = workerOn(store, {
      a: (_, job) => {
        job.release(7);
        job.release(job.attempts < 5 ? 45 : 0);
      },
    });
    const run = worker.run();
    await store.time.settle();
    expect(store.rows()).toMatchObject([{ id, attempts: 1, available_at: '2027-01-01 00:00:45', last_error: '' }]);
    expect(told('job_released').map((event) => line(event))).toEqual(['   released, back in 45s']);
    await store.time.advance(200_000);
    expect(told('job_released').length).toBeGreaterThan(5);
    expect(await store.failed()).toEqual([]);
    await worker.stop();
    await run;
  });

  it('counts a handler that released and then threw as one that threw', async () => {
    await using store = await openStore();
    await store.push('a', { maxAttempts: 1 });
    const { worker } = workerOn(store, {
      a: (_, job) => {
        job.release(5);
        throw new Error('after all');
      },
    });
    await worker.runNext();
    expect((await store.failed()).map(({ error }) => error.split('\n')[0])).toEqual(['Error: after all']);
  });

  it('fails a job of a name that is not registered, or only declared, like one that threw', async () => {
    await using store = await openStore();
    const { driver } = store;
    const handlers = { elsewhere: job<{ n: number }>() };
    const queue = new Queue({ driver, handlers, tries: 1 });
    await queue.push('elsewhere', { n: 1 });
    await store.push('constructor', { maxAttempts: 1 });
    const worker = new Worker({ queue, clock: store.time });
    expect([await worker.runNext(), await worker.runNext(), await worker.runNext()]).toEqual([true, true, false]);
    expect((await store.failed()).map(({ error }) => error.split('\n')[0]).sort()).toEqual([
      'QueueError: No handler "constructor": constructor does not exist in the handler registry (code handler_unknown)',
      'QueueError: No handler "elsewhere": elsewhere does not exist in the handler registry (code handler_unknown)',
    ]);
  });

  it('takes queues in their order, and only those it watches', async () => {
    await using store = await openStore();
    const ran: string[] = [];
    for (const queue of ['low', 'other', 'high']) await store.push('a', { queue });
    const { worker } = workerOn(
      store,
      { a: (_, { queue }) => ran.push(queue) },
      { queues: ['high', 'low'], stopWhenEmpty: true },
    );
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(ran).toEqual(['high', 'low']);
    expect(store.rows()).toHaveLength(1);
  });

  it('watches the default queue of its Queue where it is given none', async () => {
    await using store = await openStore();
    const queue = new Queue({ driver: store.driver, handlers: {}, queue: 'mail' });
    const worker = new Worker({ queue, clock: store.time, stopWhenEmpty: true, queues: [] });
    const watched: unknown[] = [];
    worker.on('started', ({ queues }) => watched.push(queues));
    expect(await worker.run()).toBe(0);
    expect(watched).toEqual([['mail']]);
  });

  it('is at most one sleep late for a job that becomes due by time', async () => {
    await using store = await openStore();
    await store.driver.push({
      name: 'a',
      payload: {},
      delay: 100,
      queue: 'default',
      priority: 0,
      unique: null,
      maxAttempts: 1,
    });
    let ranAtMs = 0;
    const { worker } = workerOn(
      store,
      {
        a: () => {
          ranAtMs = store.time.monotonicMs();
        },
      },
      { sleep: 7 },
    );
    const run = worker.run();
    await store.time.advance(120_000);
    expect(ranAtMs).toBeGreaterThanOrEqual(100_000);
    expect(ranAtMs).toBeLessThanOrEqual(107_000);
    await worker.stop();
    await run;
  });

  it('runs what is pushed while it sleeps at once, woken by the push', async () => {
    await using store = await openStore();
    let runs = 0;
    const { worker } = workerOn(
      store,
      {
        a: () => {
          runs += 1;
        },
      },
      { sleep: 3_600 },
    );
    const run = worker.run();
    await store.time.settle();
    await store.push('a');
    await store.time.settle();
    expect(runs).toBe(1);
    await worker.stop();
    await run;
  });

  it('goes on when a listener of its events throws or rejects', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.push('a');
    const { worker, told } = workerOn(store, { a: () => {} }, { stopWhenEmpty: true });
    const warnings: string[] = [];
    const onWarning = (warning: Error) => warnings.push(warning.message.split('\n')[0] ?? '');
    process.on('warning', onWarning);
    worker.on('job_started', () => {
      throw new Error('thrown by a listener');
    });
    worker.on('job_done', async () => {
      throw new Error('rejected by a listener');
    });
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    await store.time.settle();
    process.off('warning', onWarning);
    expect(told('job_done')).toHaveLength(2);
    expect(warnings.some((text) => text.includes('thrown by a listener'))).toBe(true);
    expect(warnings.some((text) => text.includes('rejected by a listener'))).toBe(true);
  });

  it('uses the default backoff, and tells, where the backoff function gives nonsense', async () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, 1.5, '5' as unknown as number]) {
      await using store = await openStore();
      await store.push('a');
      const { worker, told } = workerOn(
        store,
        {
          a: () => {
            throw new Error('x');
          },
        },
        { backoff: () => bad },
      );
      await worker.runNext();
      expect(told('job_retried').map(({ delay }) => delay)).toEqual([10]);
      expect(told('backoff_invalid')).toHaveLength(1);
    }
  });

  it('ignores whatever a handler returns', async () => {
    await using store = await openStore();
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const values = [
      cyclic,
      1n,
      () => {},
      Symbol('s'),
      'x'.repeat(1_000_000),
      process,
      '\u0000',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('trap');
          },
        },
      ),
      {
        toJSON: () => {
          throw new Error('toJSON');
        },
      },
    ];
    for (const _ of values) await store.push('a');
    const { worker, told } = workerOn(store, { a: () => values.pop() }, { stopWhenEmpty: true });
    const run = worker.run();
    await store.time.settle();
    expect(await run).toBe(0);
    expect(told('job_done')).toHaveLength(9);
  });
});

describe('the ends of a run', () => {
  it('waits with stopWhenEmpty for what is in hand, which may be put back', async () => {
    await using store = await openStore();
    await store.push('a');
    const { worker, told } = workerOn(
      store,
      {
        a: async (_, job) => {
          await new Promise<void>((resolve) => store.time.after(500, resolve));
          if (job.attempts === 1) job.release(0);
        },
      },
      { stopWhenEmpty: true, concurrency: 2 },
    );
    const run = worker.run();
    await store.time.advance(499);
    expect(told('empty')).toEqual([]);
    await store.time.advance(501);
    expect(await run).toBe(0);
    expect(told('job_started')).toHaveLength(2);
  });

  it('does not count delayed jobs as something left to do', async () => {
    await using store = await openStore();
    await store.driver.push({
      name: 'a',
      payload: {},
      delay: 60,
      queue: 'default',
      priority: 0,
      unique: null,
      maxAttempts: 1,
    });
    const { worker, events } = workerOn(store, {}, { stopWhenEmpty: true });
    expect(await worker.run()).toBe(0);
    expect(events.map((event) => line(event))).toEqual([
      'Worker tester watching default',
      'Nothing left to do',
      'Ran 0 jobs',
    ]);
  });

  it('ends after maxJobs and never claims more than that, at any concurrency', async () => {
    await using store = await openStore();
    for (let n = 0; n < 30; n += 1) await store.push('a');
    const claimed = new Set<number>();
    const { worker, events } = workerOn(
      store,
      {
        a: (_, { id }) => {
          for (const row of store.rows()) if (row.reserved_until !== null) claimed.add(row.id);
          claimed.add(id);
          return new Promise<void>((resolve) => store.time.after(10 * (id % 3), resolve));
        },
      },
      { maxJobs: 12, concurrency: 5 },
    );
    const run = worker.run();
    await store.time.advance(1_000);
    expect(await run).toBe(0);
    expect(claimed.size).toBe(12);
    expect(store.rows()).toHaveLength(18);
    expect(store.rows().every(({ attempts }) => attempts === 0)).toBe(true);
    expect(events.map((event) => line(event)).slice(-2)).toEqual(['Stopping: ran 12 jobs', 'Ran 12 jobs']);
  });

  it('ends at maxTime, also in the middle of a longer sleep', async () => {
    await using store = await openStore();
    const { worker, events } = workerOn(store, {}, { maxTime: 55, sleep: 60 });
    const run = worker.run();
    await store.time.advance(54_999);
    expect(events).toHaveLength(1);
    await store.time.advance(1);
    expect(await run).toBe(0);
    expect(events.map((event) => line(event)).slice(1)).toEqual(['Stopping: been going for 55s', 'Ran 0 jobs']);
  });

  it('ends when the process uses more memory than it may', async () => {
    await using store = await openStore();
    const { worker, events } = workerOn(store, {}, { memoryLimit: 1 });
    expect(await worker.run()).toBe(0);
    expect(events.map((event) => line(event))[1]).toMatch(/^Stopping: using \d+MB$/);
  });

  it('runs at most one job with runNext, and rejects where the reserve fails', async () => {
    await using store = await openStore();
    await store.push('a');
    await store.push('a');
    const broken = faulty(store.driver, (method) => (method === 'reserve' ? { throws: new Error('down') } : null));
    const { worker, events } = workerOn(store, { a: () => {} });
    expect(await worker.runNext()).toBe(true);
    expect(store.rows()).toHaveLength(1);
    expect(events.map(({ type }) => type)).toEqual(['job_started', 'job_done']);
    const { worker: unlucky } = workerOn(store, {}, { driver: broken.driver });
    await expect(unlucky.runNext()).rejects.toThrow('down');
  });

  it('leaves no timer behind', async () => {
    await using store = await openStore();
    for (let n = 0; n < 20; n += 1) await store.push('a');
    const { opened, open } = gate();
    const { worker } = workerOn(store, { a: () => opened }, { concurrency: 4, maxTime: 100 });
    const run = worker.run();
    await store.time.settle();
    expect(store.time.timers).toBeGreaterThan(0);
    open();
    await store.time.settle();
    await worker.stop();
    await run;
    expect(store.time.timers).toBe(0);
  });
});
