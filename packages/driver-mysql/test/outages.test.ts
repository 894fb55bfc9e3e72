import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { describe, expect, it } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { aJob, aPool, count, emptyTables, isInTransaction, until, useDatabase } from './fixtures.js';
import { aSite, BACK_MS, killAll, nothingIsLost, pause } from './outages.js';

const database = useDatabase();

describe('a worker goes on', () => {
  it('when every connection is killed, five times over, and the process lives', async () => {
    const site = await aSite(database.url());
    for (let round = 0; round < 5; round += 1) {
      await killAll(site.direct);
      expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
    }
    await nothingIsLost(site);
  }, 60_000);

  it('when the server ends every connection that was idle for a second', async () => {
    const site = await aSite(database.url(), { onConnection: 'SET wait_timeout = 1', driver: { lookEveryMs: 0 } });
    for (let round = 0; round < 2; round += 1) {
      await pause(1_500);
      expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
    }
    await nothingIsLost(site);
  }, 60_000);

  it('when the network breaks every connection', async () => {
    const site = await aSite(database.url());
    for (let round = 0; round < 3; round += 1) {
      site.relay.cut();
      expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
    }
    await nothingIsLost(site);
  }, 60_000);

  it('when new connections are refused for a while', async () => {
    const site = await aSite(database.url());
    await site.relay.refuse(true);
    site.relay.cut();
    await site.pusher.push(aJob());
    await pause(1_500);
    await site.relay.refuse(false);
    expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
    await nothingIsLost(site);
  }, 60_000);

  it('soon after its connections went half-open for good, and new ones go through', async () => {
    const site = await aSite(database.url(), { driver: { callTimeout: 1 } });
    site.relay.freeze();
    await pause(3_000);
    site.relay.thaw('new');
    expect(await site.roundTripMs()).toBeLessThan(BACK_MS);
    await nothingIsLost(site);
  }, 60_000);
});

describe('handlers that hold all the connections', () => {
  it('are all run, and none loses its claim', async () => {
    await emptyTables(database.url());
    const pool = aPool(database.url(), { connectionLimit: 2 });
    const driver = new MysqlDriver(pool, { callTimeout: 30 });
    let inside = 0;
    const holding = handler(async () => {
      const connection = await pool.getConnection();
      inside += 1;
      await pause(700);
      connection.release();
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': holding }) });
    await driver.pushMany(Array.from({ length: 4 }, () => aJob()));
    const worker = new Worker({ queue, concurrency: 4, lease: 60, stopWhenEmpty: true });
    const lost: string[] = [];
    worker.on('event', ({ type }) => lost.push(...(type === 'claim_lost' || type === 'job_unrecorded' ? [type] : [])));
    expect(await worker.run()).toBe(0);
    expect([inside, lost, await count(pool)]).toStrictEqual([4, [], 0]);
    await driver.close();
  }, 60_000);
});

describe('while a handler runs', () => {
  it('no connection is held for it', async () => {
    await emptyTables(database.url());
    const pool = aPool(database.url(), { connectionLimit: 4 });
    const driver = new MysqlDriver(pool, { lookEveryMs: 0 });
    let isRunning = false;
    let end = () => {};
    const slow = handler(async () => {
      isRunning = true;
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await driver.push(aJob());
    const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': slow }) });
    const worker = new Worker({ queue, stopWhenEmpty: true });
    const run = worker.run();
    await until('it runs', () => isRunning);
    // All of them can be had at once, and none is in a transaction.
    const connections = await Promise.all(Array.from({ length: 4 }, () => pool.getConnection()));
    for (const connection of connections) {
      expect(await isInTransaction(connection)).toBe(false);
      connection.release();
    }
    end();
    expect(await run).toBe(0);
    await driver.close();
  });
});
