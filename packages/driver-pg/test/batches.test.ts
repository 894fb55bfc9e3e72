import { describe, expect, it } from 'vitest';
import { PgDriver } from '../src/index.js';
import { aJob, count, open, until, useDatabase, waiting, watched } from './fixtures.js';

const database = useDatabase();

describe('a batch of pushes', () => {
  it('of many megabytes goes in several statements of one transaction', async () => {
    const { pool, clock } = await open(database.url());
    const notes = watched(pool);
    const driver = new PgDriver(notes.pool, { now: clock.now, notify: false });
    const jobs = Array.from({ length: 300 }, (_, n) => aJob({ payload: { n, text: 'é'.repeat(30_000) } }));
    const ids = await driver.pushMany(jobs);
    expect(ids).toStrictEqual(jobs.map((_, index) => index + 1));
    expect(notes.sent.filter((text) => text.startsWith('INSERT')).length).toBe(3);
    expect(notes.sent.filter((text) => text.startsWith('BEGIN') || text === 'COMMIT')).toHaveLength(2);
    const claimed = await driver.reserveMany(['default'], 300, 60, 'w');
    expect(claimed.map(({ payload }) => payload)).toStrictEqual(jobs.map(({ payload }) => payload));
  });

  it('keeps jobs without a key in their order, and sorts those with one among their own places', async () => {
    const { driver } = await open(database.url());
    const keys = ['c', null, 'a', null, 'b', 'a', null];
    const ids = await driver.pushMany(keys.map((unique, n) => aJob({ unique, payload: { n } })));
    expect(ids).toStrictEqual([5, 2, 1, 4, 3, 1, 6]);
    const claimed = await driver.reserveMany(['default'], 9, 60, 'w');
    expect(claimed.map(({ payload }) => (payload as { n: number }).n)).toStrictEqual([2, 1, 4, 3, 0, 6]);
  });

  it('by many at once with the same keys in any order stores each once, and gives all of them its id', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 8 } });
    const keys = Array.from({ length: 60 }, (_, n) => `k${n}`);
    const batches = Array.from({ length: 16 }, () => {
      const order = keys.toSorted(() => Math.random() - 0.5);
      return driver
        .pushMany(order.map((unique) => aJob({ unique })))
        .then((ids) => new Map(order.map((key, n) => [key, ids[n]])));
    });
    const all = await Promise.all(batches);
    for (const ids of all) for (const key of keys) expect(ids.get(key)).toBe(all[0]?.get(key));
    expect(await count(pool)).toBe(60);
  });
});

describe('a payload', () => {
  it('of two megabytes is stored where maxPayloadBytes allows it', async () => {
    const { driver } = await open(database.url(), { maxPayloadBytes: 5_000_000 });
    const payload = { text: '😀'.repeat(500_000) };
    await driver.push(aJob({ payload }));
    expect((await driver.reserve(['default'], 60, 'w'))?.payload).toStrictEqual(payload);
  });
});

describe('a turnover', () => {
  it('holds no job while it waits to delete another, so that two of them cannot wait for each other', async () => {
    const { pool, driver } = await open(database.url());
    const [held, next, last] = await driver.pushMany([aJob(), aJob(), aJob()]);
    const claims = await driver.reserveMany(['default'], 1, 60, 'w');
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM queue_jobs WHERE id = $1 FOR UPDATE', [held]);
    const turnover = driver.deleteAndReserve(claims, ['default'], 1, 60, 'w');
    await until('it waits', async () => (await waiting(pool)) === 1);
    expect((await driver.reserve(['default'], 60, 'other'))?.id).toBe(next);
    await client.query('ROLLBACK');
    client.release();
    const { lost, jobs } = await turnover;
    expect([lost, jobs.map(({ id }) => id)]).toStrictEqual([[], [last]]);
  });
});
