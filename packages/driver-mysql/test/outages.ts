// What happens to connections and servers while a worker works: run on whichever server.
import { defineHandlers, handler, Queue, Worker, type WorkerEvent, type WorkerOptions } from '@q/core';
import { type Relay, type Server, startRelay } from '@q/servers';
import type mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MysqlDriver, type MysqlDriverOptions } from '../src/index.js';
import { aJob, aPool, count, emptyTables, rowsOf, until } from './fixtures.js';

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export interface Site {
  readonly relay: Relay;
  /** Straight to the server. */
  readonly direct: mysql.Pool;
  /** By way of the relay, as the worker's. */
  readonly pool: mysql.Pool;
  readonly driver: MysqlDriver;
  readonly pusher: MysqlDriver;
  /** The ids of jobs, as their handlers ran. */
  readonly ran: number[];
  readonly events: WorkerEvent[];
  /** Pushes a job straight to the server and gives how long it took to be run. */
  roundTripMs(limitMs?: number): Promise<number>;
}

export interface SiteOptions {
  readonly driver?: MysqlDriverOptions;
  readonly worker?: Partial<WorkerOptions>;
  readonly pool?: mysql.PoolOptions;
  readonly onConnection?: string;
  readonly jobMs?: number;
}

/** A worker behind a relay, which runs until the test is over. */
export async function aSite(url: string, options: SiteOptions = {}): Promise<Site> {
  const relay = await startRelay(url);
  const direct = aPool(url);
  const pool = aPool(relay.url, { connectTimeout: 2_000, ...options.pool });
  const { onConnection } = options;
  if (onConnection !== undefined) pool.on('connection', (connection) => connection.query(onConnection));
  const driver = new MysqlDriver(pool, { callTimeout: 2, ...options.driver });
  const pusher = new MysqlDriver(direct, { callTimeout: 5 });
  await emptyTables(url);
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
  return { relay, direct, pool, driver, pusher, ran, events, roundTripMs };
}

/** Ends every connection of the site's user but the one that says so. */
export async function killAll(pool: mysql.Pool): Promise<void> {
  const connection = await pool.getConnection();
  for (const [id] of await rowsOf(connection, 'SHOW PROCESSLIST')) {
    if (Number(id) !== connection.threadId) await connection.query(`KILL ${id}`).catch(() => {});
  }
  connection.release();
}

/** Everything that was pushed was run, and nothing is left or failed. */
export async function nothingIsLost({ direct }: Site): Promise<void> {
  await until('no job is left', async () => (await count(direct)) === 0, 60_000);
  expect(await count(direct, 'queue_failed_jobs')).toBe(0);
}

async function isReserved({ direct }: Site, id: number): Promise<boolean> {
  const [row] = await rowsOf(direct, `SELECT reserved_until FROM queue_jobs WHERE id = ${id}`);
  return row !== undefined && row[0] !== null;
}

export interface OutageOptions {
  readonly name: string;
  readonly server: () => Server;
  readonly url: () => string;
  /** How long the server is away in the longest of them. */
  readonly awaySeconds: number;
}

// Asked for is 5 s, on a machine that has nothing else to do.
export const BACK_MS = 15_000;

/** Outages of a server of one's own. */
export function describeOutages({ name, server, url, awaySeconds }: OutageOptions): void {
  describe(`a worker on ${name} goes on`, () => {
    it('when every connection is killed, three times over', async () => {
      const site = await aSite(url());
      for (let round = 0; round < 3; round += 1) {
        await killAll(site.direct);
        expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
      }
      await nothingIsLost(site);
    });

    it.each(['stop', 'kill'] as const)('soon after a server came back from a %s', async (how) => {
      const site = await aSite(url());
      await server()[how]();
      await pause(1_000);
      await server().start();
      const tookMs = await site.roundTripMs();
      console.log(`${name}, after a ${how}: ${Math.round(tookMs)} ms`);
      expect(tookMs).toBeLessThan(BACK_MS);
      await nothingIsLost(site);
    });

    it(`soon after the end of an outage of ${awaySeconds} s, during which a job ran`, async () => {
      const site = await aSite(url(), { jobMs: 1_000 });
      const id = await site.pusher.push(aJob());
      await until('it is reserved', () => isReserved(site, id));
      await server().stop();
      await pause(awaySeconds * 1_000);
      await server().start();
      const tookMs = await site.roundTripMs();
      console.log(
        `${name}, after an outage of ${awaySeconds} s: ${Math.round(tookMs)} ms, the job of 1,000 ms included`,
      );
      expect(tookMs).toBeLessThan(BACK_MS);
      expect(site.ran).toContain(id);
      await nothingIsLost(site);
    });

    it('soon after a failover: the job that ran meanwhile is done once', async () => {
      const site = await aSite(url(), { jobMs: 1_000 });
      const id = await site.pusher.push(aJob());
      await until('it is reserved', () => isReserved(site, id));
      await server().readOnly(true);
      await pause(5_000);
      expect(site.events.some((event) => event.type === 'record_failed')).toBe(true);
      await server().readOnly(false);
      const tookMs = await site.roundTripMs();
      console.log(`${name}, after 5 s read-only: ${Math.round(tookMs)} ms, the job of 1,000 ms included`);
      expect(tookMs).toBeLessThan(BACK_MS);
      await nothingIsLost(site);
      expect(site.ran.filter((one) => one === id).length).toBe(1);
    });

    it.each(['idle', 'busy'] as const)(
      'soon after new connections go through, the old ones being half-open for good (%s)',
      async (state) => {
        const site = await aSite(url(), { jobMs: state === 'idle' ? 0 : 300, worker: { concurrency: 4 } });
        if (state === 'busy') await site.pusher.pushMany(Array.from({ length: 40 }, () => aJob()));
        site.relay.freeze();
        await pause(6_000);
        site.relay.thaw('new');
        const before = site.ran.length;
        if (state === 'idle') await site.pusher.push(aJob());
        const tookMs = await until('a job is run', () => site.ran.length > before, 30_000);
        console.log(`${name}, after 6 s of half-open connections, ${state}: ${Math.round(tookMs)} ms`);
        expect(tookMs).toBeLessThan(BACK_MS);
        await nothingIsLost(site);
      },
    );
  });
}
