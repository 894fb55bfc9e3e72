import { isQueueError } from '@q/core';
import type mysql from 'mysql2/promise';
import { describe, expect, it } from 'vitest';
import { aJob, count, NOW, open, useDatabase } from './fixtures.js';

const database = useDatabase();

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(() => 'not refused').catch((error: unknown) => error);
}

const POOLS: [string, mysql.PoolOptions][] = [
  ['a plain pool', {}],
  ['a pool with big numbers as text', { supportBigNumbers: true, bigNumberStrings: true }],
];

describe.each(POOLS)('on %s', (_, pool) => {
  it('ids beyond 32 bits are what every method says they are', async () => {
    const opened = await open(database.url(), { pool });
    const { driver } = opened;
    await opened.pool.query(`ALTER TABLE queue_jobs AUTO_INCREMENT = ${2 ** 31 + 5}`);
    await opened.pool.query(`ALTER TABLE queue_failed_jobs AUTO_INCREMENT = ${2 ** 40}`);
    const ids = [await driver.push(aJob({ unique: 'k' })), ...(await driver.pushMany([aJob(), aJob()]))];
    expect(ids).toStrictEqual([2147483653, 2147483654, 2147483655]);
    expect(await driver.push(aJob({ unique: 'k' }))).toBe(2147483653);
    const jobs = await driver.reserveMany(['default'], 3, 60, 'w');
    expect(jobs.map(({ id }) => id)).toStrictEqual(ids);
    const [first, second, third] = jobs;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three jobs');
    expect(await driver.extendMany(jobs, 60)).toStrictEqual([]);
    expect(await driver.release(first, 0, '')).toBe(true);
    expect(await driver.deleteMany([second])).toStrictEqual([]);
    expect(await driver.fail(third, 'no')).toBe(true);
    expect((await driver.failedRows(1))[0]?.id).toBe(2 ** 40);
    expect(await driver.retryFailed({ id: 2 ** 40 }, 3)).toBe(1);
  });

  it('the last one that a number can hold works, and the next is refused by every way to push', async () => {
    const opened = await open(database.url(), { pool });
    const { driver } = opened;
    await opened.pool.query(`ALTER TABLE queue_jobs AUTO_INCREMENT = ${Number.MAX_SAFE_INTEGER}`);
    expect(await driver.push(aJob())).toBe(9007199254740991);
    const job = await driver.reserve(['default'], 60, 'w');
    expect([job?.id, job !== null && (await driver.delete(job))]).toStrictEqual([9007199254740991, true]);
    const connection = await opened.pool.getConnection();
    await connection.beginTransaction();
    for (const call of [
      () => driver.push(aJob()),
      () => driver.pushMany([aJob(), aJob({ unique: 'k' })]),
      () => driver.within(connection).push(aJob()),
      () => driver.within(connection).pushMany([aJob(), aJob()]),
    ]) {
      expect(isQueueError(await refusalOf(call()), 'id_out_of_range')).toBe(true);
    }
    await connection.commit();
    connection.release();
    expect(await count(opened.pool)).toBe(0);
  });
});

describe('ids beyond 2^53 − 1', () => {
  it('refuse a requeue, which leaves the failed job where it is', async () => {
    const { pool, driver } = await open(database.url());
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    if (job !== null) await driver.fail(job, 'no');
    await pool.query('ALTER TABLE queue_jobs AUTO_INCREMENT = 9007199254741003');
    expect(isQueueError(await refusalOf(driver.retryFailed('all', 3)), 'id_out_of_range')).toBe(true);
    expect([await count(pool), await count(pool, 'queue_failed_jobs')]).toStrictEqual([0, 1]);
  });

  it('are left alone by claims and counts, with one warning; their keys are held', async () => {
    const { pool, driver, warnings } = await open(database.url());
    const columns = '(id, name, payload, last_error, unique_key, available_at, created_at)';
    await pool.query(
      `INSERT INTO queue_jobs ${columns} VALUES (9007199254740993, 'stranded', '{}', '', 'k', '${NOW}', '${NOW}')`,
    );
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    expect([await driver.pending(), await driver.pending('default')]).toStrictEqual([0, 0]);
    expect(warnings.map(({ code }) => code)).toStrictEqual(['id_out_of_range']);
    expect(isQueueError(await refusalOf(driver.push(aJob({ unique: 'k' }))), 'id_out_of_range')).toBe(true);
    expect(await count(pool)).toBe(1);
  });

  it('among failed jobs are left alone, but for forgetting all', async () => {
    const { pool, driver } = await open(database.url());
    const columns = '(id, name, payload, error, failed_at)';
    for (const id of ['1', '9007199254740993', '18446744073709551614']) {
      await pool.query(`INSERT INTO queue_failed_jobs ${columns} VALUES (${id}, 'a', '{}', '', '${NOW}')`);
    }
    expect((await driver.failedRows(9)).map(({ id }) => id)).toStrictEqual([1]);
    expect(await driver.retryFailed('all', 3)).toBe(1);
    expect(await driver.forgetFailed('all')).toBe(2);
  });
});

describe('the ids of a batch', () => {
  it.each([1, 2, 7])('are those that were given, where they rise in steps of %i', async (step) => {
    const { pool, driver } = await open(database.url());
    pool.on('connection', (connection) => {
      connection.query(`SET auto_increment_increment = ${step}, auto_increment_offset = 1`);
    });
    const ids = await driver.pushMany(Array.from({ length: 2_500 }, (_, n) => aJob({ payload: { n } })));
    expect(ids).toStrictEqual(Array.from({ length: 2_500 }, (_, n) => 1 + n * step));
    const middle = await driver.find(ids[1_234] ?? 0);
    expect(middle?.payloadJson).toBe('{"n":1234}');
  });

  it('are those that were given, however many push at once', async () => {
    const { driver } = await open(database.url());
    const batches = await Promise.all(
      Array.from({ length: 6 }, (_, batch) => {
        return driver.pushMany(Array.from({ length: 300 }, (_, n) => aJob({ payload: { batch, n } })));
      }),
    );
    expect(new Set(batches.flat()).size).toBe(1_800);
    for (const [batch, ids] of batches.entries()) {
      for (const n of [0, 150, 299]) {
        expect((await driver.find(ids[n] ?? 0))?.payloadJson).toBe(JSON.stringify({ batch, n }));
      }
    }
  });

  it('are found with some keys held, anywhere in the list, and twice', async () => {
    const { driver } = await open(database.url());
    const held = await driver.pushMany([3, 500, 999, 1_700].map((n) => aJob({ unique: `k${n}` })));
    const jobs = Array.from({ length: 2_000 }, (_, n) => aJob({ unique: `k${n % 1_900}`, payload: { n } }));
    const ids = await driver.pushMany(jobs);
    expect([3, 500, 999, 1_700].map((n) => ids[n])).toStrictEqual(held);
    expect(ids.slice(1_900)).toStrictEqual(ids.slice(0, 100));
    expect(new Set(ids).size).toBe(1_900);
    expect((await driver.find(ids[1_000] ?? 0))?.payloadJson).toBe('{"n":1000}');
  });
});
