import { defineHandlers, handler, Queue, Worker, type WorkerEvent } from '@q/core';
import { type Server, startRedis, startRelay } from '@q/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectionsTo, messageOf, type Opened, open, pause, SOON_MS, start, until } from './fixtures.js';

type Data = { readonly n: number; readonly ms?: number };

async function aServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const server = await startRedis({ own: true, settings });
  onTestFinished(() => server.close());
  return server;
}

const FORGETFUL = { appendonly: 'no', save: '' };

/** A worker that runs in this process, and which jobs it has run, in order. Stopped with the test. */
function aWorker({ driver }: Opened, options: { readonly lease?: number; readonly concurrency?: number } = {}) {
  const started: number[] = [];
  const done: number[] = [];
  const events: WorkerEvent[] = [];
  const handlers = defineHandlers({
    work: handler(async ({ n, ms = 0 }: Data) => {
      started.push(n);
      if (ms > 0) await pause(ms);
      done.push(n);
    }),
  });
  const queue = new Queue({ driver, handlers, backoff: 0 });
  const worker = new Worker({ queue, sleep: 0.5, maxReserveFailures: 0, driverTimeout: 3, ...options });
  worker.on('event', (event) => events.push(event));
  const run = worker.run();
  onTestFinished(async () => {
    await worker.stop({ timeout: 2 });
    await run;
  });
  return { queue, started, done, events };
}

function opened(url: string, via = url): Opened {
  return open({ url, via, now: () => new Date(), callTimeout: 2 });
}

/** Pushes until it is taken, as an application would that has to. */
async function pushed(queue: { push(name: 'work', data: Data): Promise<number> }, n: number): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await queue.push('work', { n });
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await pause(50);
    }
  }
}

describe('a Redis that is restarted', () => {
  it.each(['stop', 'kill'] as const)(
    'by %s, with an append-only file, three times over: every job is run once',
    async (how) => {
      const server = await aServer();
      const store = opened(server.url);
      const { queue, done, started } = aWorker(store);
      for (let round = 0; round < 3; round += 1) {
        await pushed(queue, round * 10);
        await until('it was run', () => done.includes(round * 10));
        await store.driver.pushMany(
          [1, 2, 3].map((n) => ({ ...JOB, payload: { n: round * 10 + n }, delay: n === 3 ? 2 : 0, unique: `k${n}` })),
        );
        await server[how]();
        await pause(700);
        await server.start();
        await until('all were run', () => [1, 2].every((n) => done.includes(round * 10 + n)), SOON_MS);
        await until('the delayed one, too', () => done.includes(round * 10 + 3));
        await until('nothing is left', async () => (await store.stored.jobs()).length === 0);
      }
      expect(new Set(done).size).toBe(12);
      // A job whose completion was under way may be run again: at least once is what is promised.
      expect(started.length).toBeLessThan(20);
      const own = (await connectionsTo(store.raw)).filter(({ cmd }) => cmd === 'bzpopmin' || cmd === 'evalsha');
      expect(own.length).toBe(2);
    },
  );

  it('without any persistence begins empty, and what is pushed from then on is run', async () => {
    const server = await aServer(FORGETFUL);
    const store = opened(server.url);
    const { queue, done } = aWorker(store);
    for (let round = 0; round < 3; round += 1) {
      await pushed(queue, round);
      await until('it was run', () => done.includes(round));
      await server.restart();
      expect(await store.stored.keys()).toStrictEqual([]);
      await pushed(queue, 100 + round);
      await until('it was run', () => done.includes(100 + round), SOON_MS);
    }
    expect(done).toStrictEqual([0, 100, 1, 101, 2, 102]);
  });

  it('while it is away refuses pushes within their deadline, and none of them turns up later', async () => {
    const server = await aServer();
    const store = opened(server.url);
    await store.driver.push(JOB);
    await server.stop();
    const before = performance.now();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store.driver.push(JOB)));
    expect(outcomes.map(({ status }) => status)).toStrictEqual(Array(20).fill('rejected'));
    expect(performance.now() - before).toBeLessThan(15_000);
    await server.start();
    await pause(1_000);
    expect((await store.stored.jobs()).length).toBe(1);
  });
});

describe('a Redis that is emptied', () => {
  it('by FLUSHALL while a worker waits: three jobs pushed then are run once each, at once', async () => {
    const server = await aServer();
    const store = opened(server.url);
    const { queue, done } = aWorker(store);
    await pushed(queue, 0);
    await until('it was run', () => done.length === 1);
    await pause(300);
    await store.raw.flushall();
    const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await store.raw.info('stats'))?.[1]);
    const [before, start] = [await commands(), performance.now()];
    await pause(2_000);
    // A look each half second, the scripts' own commands included.
    expect(((await commands()) - before) / ((performance.now() - start) / 1000)).toBeLessThan(20);
    await store.driver.pushMany([1, 2, 3].map((n) => ({ ...JOB, payload: { n } })));
    await until('they were run', () => done.length === 4, SOON_MS);
    expect(done.toSorted()).toStrictEqual([0, 1, 2, 3]);
    await until('nothing is left', async () => (await store.stored.keys()).length === 1);
  });

  it('by FLUSHALL in the middle of a job: its outcome is refused, and the worker goes on', async () => {
    const server = await aServer();
    const store = opened(server.url);
    const { queue, done, started, events } = aWorker(store);
    await store.driver.push({ ...JOB, payload: { n: 1, ms: 800 } });
    await until('it runs', () => started.length === 1);
    await store.raw.flushall();
    await pushed(queue, 2);
    await until('both were run', () => done.length === 2);
    await until('it was told', () => events.some(({ type }) => type === 'claim_lost'));
    await until('nothing is left', async () => (await store.stored.jobs()).length === 0);
  });

  it('of its group, with five jobs in hand and five waiting: each is run once', async () => {
    const server = await aServer();
    const store = opened(server.url);
    const { done } = aWorker(store, { concurrency: 5 });
    await store.driver.pushMany(Array.from({ length: 10 }, (_, n) => ({ ...JOB, payload: { n, ms: 600 } })));
    await until('five are in hand', async () => (await store.raw.zcard(store.stored.key('claims:0:default'))) === 5);
    await store.raw.xgroup('DESTROY', store.stored.key('ready:0:default'), 'q');
    await until('all were run', () => done.length === 10);
    await pause(1_500);
    expect(done.toSorted((a, b) => a - b)).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await until('nothing is left', async () => (await store.stored.keys()).length === 1);
  });
});

describe('connections that are killed', () => {
  it('all of them, every 20 ms for four seconds: no job is lost, and the worker goes on', async () => {
    const server = await aServer();
    const store = opened(server.url);
    const { done, queue } = aWorker(store, { concurrency: 5, lease: 2 });
    const other = opened(server.url);
    let isOver = false;
    const killing = (async () => {
      while (!isOver) {
        await store.raw.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').catch(() => {});
        await pause(20);
      }
    })();
    const sent: number[] = [];
    const end = performance.now() + 4_000;
    for (let n = 0; performance.now() < end; n += 1) {
      await pushed(queue, n);
      sent.push(n);
      await pause(5);
    }
    isOver = true;
    await killing;
    await until('all were run', () => sent.every((n) => done.includes(n)), 20_000);
    await until('nothing is left', async () => (await store.stored.jobs()).length === 0, 10_000);
    await pushed(queue, -1);
    await until('it was run', () => done.includes(-1), SOON_MS);
    expect(sent.length).toBeGreaterThan(50);
    await other.driver.close();
  });
});

describe('a network that forgets its connections', () => {
  it.each([
    ['while the worker waits', 0],
    ['while it runs a job', 1_000],
  ])('%s: jobs flow again soon, on new connections', async (_, ms) => {
    const server = await aServer();
    const relay = await startRelay(server.url);
    onTestFinished(() => relay.close());
    const store = opened(server.url, relay.url);
    const { done, started, events } = aWorker(store, { lease: 5 });
    const direct = open({ url: server.url, prefix: store.prefix, now: () => new Date() });
    const send = (n: number, more = {}) => direct.driver.push({ ...JOB, payload: { n, ...more } });
    await send(1, { ms });
    await until('it runs', () => started.includes(1));
    if (ms === 0) await until('it was run', () => done.includes(1));
    relay.freeze();
    await until(
      'it was noticed',
      () => events.some(({ type }) => type === 'reserve_failed' || type === 'record_failed'),
      12_000,
    );
    await pause(6_000);
    relay.thaw('new');
    await send(2);
    await until('the next was run', () => done.includes(2), SOON_MS);
    await until('nothing is left', async () => (await store.stored.jobs()).length === 0, 10_000);
    // A freeze longer than the lease: the claim may have expired, and the job been run again.
    expect(done.filter((n) => n === 1).length).toBeLessThanOrEqual(2);
  });

  it('is noticed by the one that waits for pushes, and the connection for calls replaced before the next one', async () => {
    const server = await aServer();
    const relay = await startRelay(server.url);
    onTestFinished(() => relay.close());
    const { driver } = open({ url: server.url, via: relay.url });
    await driver.push(JOB);
    await driver.onPush(['default'], () => {});
    await until('both are there', () => relay.connections === 2);
    relay.freeze();
    await pause(7_000 + 2_000 + 5_000);
    relay.thaw('new');
    // On the old connection, it would be given up after 30 s.
    expect(await driver.push(JOB)).toBe(2);
  });
});

describe('a Redis that does not answer for ten seconds', () => {
  it('is waited for, and then jobs flow soon, with one connection that waits', async () => {
    const server = await aServer({ 'enable-debug-command': 'yes' });
    const store = opened(server.url);
    const { queue, done } = aWorker(store);
    await pushed(queue, 0);
    await until('it was run', () => done.length === 1);
    await store.raw.call('DEBUG', 'SLEEP', '10');
    await pushed(queue, 1);
    await until('it was run', () => done.includes(1), SOON_MS);
    await until(
      'one waits',
      async () => (await connectionsTo(store.raw)).filter(({ flags }) => flags?.includes('b')).length === 1,
    );
    expect(new Set(done).size).toBe(done.length);
  });
});

describe('a failover', () => {
  it('in the middle of a job, for five seconds: it is run once, its outcome recorded, and the worker works on', async () => {
    const server = await aServer();
    const store = opened(server.url);
    const { queue, done, started } = aWorker(store, { lease: 30 });
    await store.driver.push({ ...JOB, payload: { n: 1, ms: 1_000 } });
    await until('it runs', () => started.length === 1);
    await server.readOnly(true);
    await pause(5_000);
    await server.readOnly(false);
    await until('it is recorded', async () => (await store.stored.jobs()).length === 0, 10_000);
    await pushed(queue, 2);
    await until('the next was run', () => done.includes(2), SOON_MS);
    expect(started).toStrictEqual([1, 2]);
  });
});

describe('a process that only pushes', () => {
  it('ends by itself, within a second, once its driver and its client are closed', async () => {
    const server = await aServer();
    const took: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const child = start('push', server.url, 'only');
      const ended = new Promise<number>((resolve) => child.once('exit', () => resolve(performance.now())));
      expect(await messageOf(child)).toBe('pushed');
      const said = performance.now();
      took.push((await ended) - said);
      expect(child.exitCode).toBe(0);
    }
    // The quickest: this machine may have other things to do. A timer or a socket left behind takes longer each time.
    expect(Math.min(...took)).toBeLessThan(1_000);
  });
});

const JOB = {
  name: 'work',
  payload: { n: -100 },
  delay: 0,
  queue: 'default',
  priority: 0,
  unique: null,
  maxAttempts: 3,
} as const;
