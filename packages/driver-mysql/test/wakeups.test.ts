import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MysqlDriver, type MysqlDriverOptions } from '../src/index.js';
import { aJob, aPool, inShort, open, serverError, until, useDatabase, type WatchOptions, watched } from './fixtures.js';

const database = useDatabase();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A driver of which every look is seen, and one of another process. */
async function openTwo(options: MysqlDriverOptions = {}, watch: WatchOptions = {}) {
  const { driver: other } = await open(database.url(), { now: () => new Date() });
  const notes = watched(aPool(database.url()), watch);
  const driver = new MysqlDriver(notes.pool, { onWarning: () => {}, ...options });
  onTestFinished(() => driver.close());
  const looks = () => notes.sent.filter((sql) => /WHERE id > \d+ ORDER BY id/.test(sql)).length;
  return { driver, other, notes, looks };
}

describe('a push by another process', () => {
  it('wakes within a few looks, those that listen to its queue alone', async () => {
    const { driver, other } = await openTwo();
    const woken: string[] = [];
    await driver.onPush(['mail', 'b'], () => woken.push('mail'));
    await driver.onPush(['other'], () => woken.push('other'));
    for (let round = 1; round <= 3; round += 1) {
      await other.push(aJob({ queue: 'mail' }));
      const tookMs = await until('woken', () => woken.length === round);
      expect(tookMs).toBeLessThan(5_000); // 50 ms, on a machine that has nothing else to do
    }
    await other.pushMany([aJob({ queue: 'other' }), aJob({ queue: 'nobody' })]);
    await until('the other one is woken', () => woken.length === 4);
    expect(woken).toStrictEqual(['mail', 'mail', 'mail', 'other']);
  });

  it('wakes everybody where it was of very many', async () => {
    const { driver, other } = await openTwo();
    const woken: string[] = [];
    await driver.onPush(['mail'], () => woken.push('mail'));
    await other.pushMany(Array.from({ length: 250 }, () => aJob({ queue: 'elsewhere' })));
    await until('woken', () => woken.length === 1);
    await other.push(aJob({ queue: 'mail' }));
    await until('woken again', () => woken.length === 2);
  });

  it('wakes even when its jobs were done by others before the look', async () => {
    const { driver, other } = await openTwo();
    let woken = 0;
    await other.pushMany([aJob(), aJob(), aJob()]);
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    for (const job of await other.reserveMany(['default'], 3, 60, 'w')) await other.delete(job);
    await other.push(aJob());
    await until('woken', () => woken === 1);
  });
});

describe('a push by the same driver', () => {
  it.each([50, 0])('wakes at once, where the looks are every %i ms', async (lookEveryMs) => {
    const { driver } = await openTwo({ lookEveryMs });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    await driver.push(aJob());
    await Promise.resolve();
    expect(woken).toBe(1);
  });
});

describe('the looks', () => {
  it('are one query for the whole process every 50 ms, and hardly anything else', async () => {
    const { driver, notes, looks } = await openTwo();
    for (const queue of ['a', 'b', 'c']) await driver.onPush([queue], () => {});
    notes.sent.length = 0;
    await pause(2_000);
    expect(looks()).toBeGreaterThan(10);
    expect(looks()).toBeLessThanOrEqual(40);
    // One in twenty makes sure of its connection.
    expect(notes.sent.length).toBeLessThanOrEqual(looks() + 3);
  });

  it('can be switched off', async () => {
    const { driver, notes, other } = await openTwo({ lookEveryMs: 0 });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    await other.push(aJob());
    await pause(300);
    expect([notes.sent, woken]).toStrictEqual([[], 0]);
  });

  it('hardly come while every worker is busy, and come as before when one finds less than it asked for', async () => {
    const { driver, other, looks } = await openTwo();
    await other.pushMany([aJob(), aJob(), aJob()]);
    await using _ = await driver.onPush(['default'], () => {});
    await driver.reserve(['default'], 60, 'one');
    await driver.reserveMany(['default'], 2, 60, 'two');
    await pause(100);
    const before = looks();
    const start = performance.now();
    await pause(2_200);
    const seconds = (performance.now() - start) / 1_000;
    expect(looks() - before).toBeLessThanOrEqual(seconds + 1);
    await driver.reserve(['default'], 60, 'one');
    const since = looks();
    await until('they go on', () => looks() > since + 10, 5_000);
  });

  it('end with the last that listens', async () => {
    const { driver, notes } = await openTwo();
    const subscriptions = [await driver.onPush(['a'], () => {}), await driver.onPush(['b'], () => {})];
    for (const subscription of subscriptions) await subscription[Symbol.asyncDispose]();
    await pause(100);
    notes.sent.length = 0;
    await pause(300);
    expect(notes.sent).toStrictEqual([]);
  });

  it('that fail come less often, say nothing, and find what was pushed meanwhile when they succeed', async () => {
    let isDown = false;
    const { driver, other, notes } = await openTwo(
      {},
      {
        before: () => {
          if (isDown) throw serverError(1205);
        },
      },
    );
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    isDown = true;
    await other.push(aJob());
    await pause(150);
    notes.sent.length = 0;
    const start = performance.now();
    await pause(2_500);
    const seconds = (performance.now() - start) / 1_000;
    const failed = notes.sent.filter((sql) => inShort(sql).startsWith('SELECT')).length;
    expect(failed).toBeLessThanOrEqual(seconds + 2);
    isDown = false;
    await until('woken', () => woken === 1);
  });

  it('see what is committed where autocommit is off, too', async () => {
    const { driver: other } = await open(database.url());
    const pool = aPool(database.url());
    pool.on('connection', (connection) => connection.query('SET autocommit = 0'));
    const driver = new MysqlDriver(pool, { onWarning: () => {} });
    let woken = 0;
    await using _ = await driver.onPush(['default'], () => {
      woken += 1;
    });
    for (let round = 1; round <= 3; round += 1) {
      await other.push(aJob());
      await until('woken', () => woken === round);
    }
    await driver.close();
  });
});

describe('a worker that polls every 30 s', () => {
  it('starts the jobs of another process soon after they were pushed', async () => {
    const { driver, other } = await openTwo();
    const started: number[] = [];
    const work = handler(async (_: object, job) => {
      started.push(job.id);
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ 'send-invoice': work }) });
    const worker = new Worker({ queue, sleep: 30 });
    const run = worker.run();
    await pause(200);
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const id = await other.push(aJob());
      times.push(await until('it is started', () => started.includes(id)));
    }
    await worker.stop();
    await run;
    const [median = 0] = times.toSorted((a, b) => a - b).slice(10);
    console.log(`from a push elsewhere to the start of the job: ${median.toFixed(0)} ms in the middle of 20`);
    expect(median).toBeLessThan(3_000); // about 30 on a machine that has nothing else to do
  });
});
