// What happens to connections: a worker, with a server of this file's own and a relay in between.
import { defineHandlers, handler, Queue, Worker, type WorkerEvent, type WorkerOptions } from '@q/core';
import { createPostgresDatabase, type Relay, type Server, startPostgres, startRelay } from '@q/servers';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PgDriver, type PgDriverOptions } from '../src/index.js';
import { aJob, aPool, count, until } from './fixtures.js';

let server: Server;
let url: string;
beforeAll(async () => {
  server = await startPostgres({ own: true });
  url = (await createPostgresDatabase(server.url)).url;
});
afterAll(() => server.close());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Site {
  readonly relay: Relay;
  /** Straight to the server. */
  readonly direct: pg.Pool;
  /** By way of the relay, as the worker's. */
  readonly pool: pg.Pool;
  readonly driver: PgDriver;
  /** The ids of jobs, as their handlers ran. */
  readonly ran: number[];
  readonly events: WorkerEvent[];
  /** Pushes a job straight to the server and gives how long it took to be run. */
  roundTripMs(limitMs?: number): Promise<number>;
}

/** A worker behind a relay, which runs until the test is over. */
async function aSite(
  options: { driver?: PgDriverOptions; worker?: Partial<WorkerOptions>; jobMs?: number } = {},
): Promise<Site> {
  const relay = await startRelay(url);
  const direct = aPool({ connectionString: url });
  const pool = aPool({ connectionString: relay.url, connectionTimeoutMillis: 2_000 });
  const driver = new PgDriver(pool, { callTimeout: 2, ...options.driver });
  const pusher = new PgDriver(direct, { callTimeout: 5 });
  await pusher.createTables();
  await direct.query('TRUNCATE queue_jobs, queue_failed_jobs');
  const ran: number[] = [];
  const work = handler(async (_: object, job) => {
    await pause(options.jobMs ?? 0);
    ran.push(job.id);
  });
  const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': work }), backoff: 0 });
  const worker = new Worker({ queue, sleep: 0.2, maxReserveFailures: 0, lease: 10, ...options.worker });
  const events: WorkerEvent[] = [];
  worker.on('event', (event) => events.push(event));
  const run = worker.run();
  onTestFinished(async () => {
    await worker.stop();
    await run;
    await driver.close();
    await pusher.close();
    await relay.close();
  });
  const roundTripMs = async (limitMs = 20_000) => {
    const id = await pusher.push(aJob());
    return until('the job is run', () => ran.includes(id), limitMs);
  };
  await roundTripMs();
  return { relay, direct, pool, driver, ran, events, roundTripMs };
}

async function listening(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (query ILIKE '%LISTEN "queue_jobs"%' OR query LIKE '%pg_listening_channels%')`,
  );
  return rows[0].n;
}

async function terminateAll(pool: pg.Pool, which = ''): Promise<void> {
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ${which}`,
  );
}

/** Everything that was pushed was run, and nothing is left or failed. */
async function nothingIsLost({ direct }: Site): Promise<void> {
  await until('no job is left', async () => (await count(direct)) === 0);
  expect(await count(direct, 'queue_failed_jobs')).toBe(0);
}

describe('a worker goes on', () => {
  it('when every session is terminated, ten times over, and the process lives', async () => {
    const site = await aSite();
    const listeners = () => site.pool.listenerCount('error');
    const before = listeners();
    for (let round = 0; round < 10; round += 1) {
      await terminateAll(site.direct);
      expect(await site.roundTripMs()).toBeLessThan(3_000);
    }
    await until('one session listens', async () => (await listening(site.direct)) === 1);
    expect(listeners()).toBe(before);
    await nothingIsLost(site);
  });

  it.each(['stop', 'kill'] as const)('within 5 s of a server that came back after a %s', async (how) => {
    const site = await aSite();
    await server[how]();
    await pause(1_000);
    await server.start();
    const tookMs = await site.roundTripMs();
    console.log(`after a ${how}: ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(5_000);
    await until('one session listens', async () => (await listening(site.direct)) === 1);
    await nothingIsLost(site);
  });

  it('from the moment on at which a server that was not there yet is there', async () => {
    await server.stop();
    const pool = aPool({ connectionString: url, connectionTimeoutMillis: 2_000 });
    const driver = new PgDriver(pool, { callTimeout: 2 });
    let ran = 0;
    const work = handler(async () => {
      ran += 1;
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': work }) });
    const worker = new Worker({ queue, sleep: 0.2, maxReserveFailures: 0 });
    const run = worker.run();
    await pause(1_500);
    await server.start();
    await driver.push(aJob());
    await until('it is run', () => ran === 1, 5_000);
    await worker.stop();
    await run;
    await driver.close();
  });

  it('within 5 s of the end of an outage of 20 s, during which a job ran', async () => {
    const site = await aSite({ jobMs: 1_000 });
    const id = await new PgDriver(site.direct, { notify: false }).push(aJob());
    await until('it is reserved', async () => {
      return (await site.direct.query('SELECT 1 FROM queue_jobs WHERE reserved_until IS NOT NULL')).rowCount === 1;
    });
    await server.stop();
    await pause(20_000);
    await server.start();
    const tookMs = await site.roundTripMs();
    console.log(`after an outage of 20 s: ${Math.round(tookMs)} ms, the job included, which takes 1,000 ms`);
    expect(tookMs).toBeLessThan(6_000);
    expect(site.ran).toContain(id);
    await until('one session listens', async () => (await listening(site.direct)) === 1);
    await nothingIsLost(site);
  });

  it('within 5 s of a failover: the job that ran meanwhile is done once', async () => {
    const site = await aSite({ jobMs: 1_000 });
    const pusher = new PgDriver(site.direct, { notify: false });
    const id = await pusher.push(aJob());
    await until('it is reserved', async () => {
      return (await site.direct.query('SELECT 1 FROM queue_jobs WHERE reserved_until IS NOT NULL')).rowCount === 1;
    });
    await server.readOnly(true);
    await pause(5_000);
    expect(site.events.some((event) => event.type === 'record_failed')).toBe(true);
    await server.readOnly(false);
    const tookMs = await site.roundTripMs();
    console.log(`after 5 s read-only: ${Math.round(tookMs)} ms, the job included, which takes 1,000 ms`);
    expect(tookMs).toBeLessThan(6_000);
    await nothingIsLost(site);
    expect(site.ran.filter((one) => one === id).length).toBe(1);
  });

  it.each(['idle', 'busy'] as const)(
    'within 5 s of new connections, the old ones being half-open for good (%s)',
    async (state) => {
      const site = await aSite({ jobMs: state === 'idle' ? 0 : 300, worker: { concurrency: 4 } });
      if (state === 'busy') await new PgDriver(site.direct).pushMany(Array.from({ length: 40 }, () => aJob()));
      site.relay.freeze();
      await pause(10_000);
      site.relay.thaw('new');
      const tookMs = await site.roundTripMs(30_000);
      console.log(`after 10 s of half-open connections, ${state}: ${Math.round(tookMs)} ms`);
      expect(tookMs).toBeLessThan(5_000 + (state === 'busy' ? 4_000 : 0)); // what was pushed before goes first
      await nothingIsLost(site);
    },
  );
});

describe('a worker that polls every 30 s is woken', () => {
  it('within 2 s after its session that listens was killed, five times, and one session listens each time', async () => {
    const site = await aSite({ worker: { sleep: 30 } });
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await terminateAll(site.direct, "AND (query ILIKE '%LISTEN%' OR query LIKE '%pg_listening_channels%')");
      await until('one session listens', async () => (await listening(site.direct)) === 1);
      times.push(Math.round(await site.roundTripMs()));
      expect(await listening(site.direct)).toBe(1);
    }
    console.log(`woken after a killed LISTEN: ${times.join(', ')} ms`);
    expect(Math.max(...times)).toBeLessThan(2_000);
    await nothingIsLost(site);
  });

  it('of jobs pushed while nobody listened, by listening again', async () => {
    const site = await aSite({ worker: { sleep: 30 } });
    await pause(500); // so that no reserve is under way: one that fails is followed by a wait of its own
    await site.relay.refuse(true);
    site.relay.cut();
    const pusher = new PgDriver(site.direct);
    for (let n = 0; n < 5; n += 1) await pusher.push(aJob());
    await pause(3_000);
    await site.relay.refuse(false);
    const tookMs = await until('all are run', () => site.ran.length === 6, 20_000);
    console.log(`jobs pushed in the gap: ${Math.round(tookMs)} ms after its end`);
    expect(tookMs).toBeLessThan(3_000);
  });

  it('10 s after its connections froze without a word, and new ones go through', async () => {
    const site = await aSite({ worker: { sleep: 30 } });
    site.relay.freeze();
    site.relay.thaw('new');
    await pause(10_000);
    const tookMs = await site.roundTripMs();
    console.log(`10 s after LISTEN froze: ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThan(2_000);
  });
});
