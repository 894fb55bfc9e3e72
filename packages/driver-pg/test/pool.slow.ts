import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { startRelay } from '@q/servers';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { PgDriver } from '../src/index.js';
import { aJob, aPool, count, useDatabase } from './fixtures.js';

const database = useDatabase();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('closing', () => {
  it('a driver whose server does not answer takes less than 2 s', async () => {
    const relay = await startRelay(database.url());
    const pool = new pg.Pool({ connectionString: relay.url, connectionTimeoutMillis: 2_000 });
    pool.on('error', () => {});
    const driver = new PgDriver(pool, { callTimeout: 30 });
    await driver.createTables();
    const subscription = await driver.onPush(['default'], () => {});
    await driver.push(aJob());
    await driver.push(aJob());
    relay.freeze();
    const start = performance.now();
    await Promise.all([driver.close(), driver.close(), driver.close(), subscription[Symbol.asyncDispose]()]);
    expect(performance.now() - start).toBeLessThan(2_000);
    await relay.close();
    await pool.end();
  });
});

describe('handlers that hold all the connections but one', () => {
  it('are all run, and none loses its claim', async () => {
    const pool = aPool({ connectionString: database.url(), max: 2 });
    const driver = new PgDriver(pool, { callTimeout: 30 });
    await driver.createTables();
    await pool.query('TRUNCATE queue_jobs, queue_failed_jobs');
    let inside = 0;
    const holding = handler(async () => {
      const client = await pool.connect();
      inside += 1;
      await pause(2_000);
      client.release();
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': holding }) });
    await driver.pushMany(Array.from({ length: 4 }, () => aJob()));
    const worker = new Worker({ queue, concurrency: 4, lease: 60, stopWhenEmpty: true });
    const lost: string[] = [];
    worker.on('event', ({ type }) => lost.push(...(type === 'claim_lost' || type === 'job_unrecorded' ? [type] : [])));
    expect(await worker.run()).toBe(0);
    expect([inside, lost, await count(pool)]).toStrictEqual([4, [], 0]);
    await driver.close();
  });
});
