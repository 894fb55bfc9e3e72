import { isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { aJob, count, NOW, open, useDatabase } from './fixtures.js';

const database = useDatabase();
const LARGEST = Number.MAX_SAFE_INTEGER;

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(() => 'not refused').catch((error: unknown) => error);
}

describe('ids beyond 32 bits', () => {
  it('are what push, reserve, release, extend, fail and delete say they are', async () => {
    const { pool, driver } = await open(database.url());
    await pool.query(
      `SELECT setval('queue_jobs_id_seq', ${2 ** 31 + 4}), setval('queue_failed_jobs_id_seq', ${2 ** 40})`,
    );
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
    const [failure] = await driver.failedRows(1);
    expect(failure?.id).toBe(2 ** 40 + 1);
    expect(await driver.retryFailed({ id: 2 ** 40 + 1 }, 3)).toBe(1);
  });

  it('are burnt by a key that is held, which does no harm', async () => {
    const { driver } = await open(database.url());
    const id = await driver.push(aJob({ unique: 'k' }));
    for (let n = 0; n < 100; n += 1) expect(await driver.push(aJob({ unique: 'k' }))).toBe(id);
  });
});

describe('ids beyond 2^53 − 1', () => {
  it('are refused by every way to push, nothing is stored, and a transaction goes on', async () => {
    const { pool, driver } = await open(database.url());
    await pool.query(`SELECT setval('queue_jobs_id_seq', ${LARGEST})`);
    const client = await pool.connect();
    await client.query('BEGIN');
    const calls = [
      () => driver.push(aJob()),
      () => driver.pushMany([aJob(), aJob({ unique: 'k' })]),
      () => driver.within(client).push(aJob()),
      () => driver.within(client).pushMany([aJob(), aJob()]),
    ];
    for (const call of calls) expect(isQueueError(await refusalOf(call()), 'id_out_of_range')).toBe(true);
    expect((await client.query('COMMIT')).command).toBe('COMMIT');
    client.release();
    expect(await count(pool)).toBe(0);
  });

  it('refuse a requeue, which leaves the failed job where it is', async () => {
    const { pool, driver } = await open(database.url());
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    if (job !== null) await driver.fail(job, 'no');
    await pool.query(`SELECT setval('queue_jobs_id_seq', ${LARGEST})`);
    expect(isQueueError(await refusalOf(driver.retryFailed('all', 3)), 'id_out_of_range')).toBe(true);
    expect([await count(pool), await count(pool, 'queue_failed_jobs')]).toStrictEqual([0, 1]);
  });

  it('are left alone by claims and counts, with one warning; their keys are held', async () => {
    const { pool, driver, warnings } = await open(database.url());
    const insert =
      'INSERT INTO queue_jobs (id, name, payload, unique_key, available_at, created_at) VALUES ($1, $2, $3, $4, $5, $5)';
    await pool.query(insert, ['9007199254740993', 'stranded', '{}', 'k', NOW]);
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    expect([await driver.pending(), await driver.pending('default')]).toStrictEqual([0, 0]);
    expect(warnings.map(({ code }) => code)).toStrictEqual(['id_out_of_range']);
    expect(isQueueError(await refusalOf(driver.push(aJob({ unique: 'k' }))), 'id_out_of_range')).toBe(true);
    const client = await pool.connect();
    await client.query('BEGIN');
    const batch = driver.within(client).pushMany([aJob(), aJob({ unique: 'k' })]);
    expect(isQueueError(await refusalOf(batch), 'id_out_of_range')).toBe(true);
    expect((await client.query('COMMIT')).command).toBe('COMMIT');
    client.release();
    expect(await count(pool)).toBe(1);
  });
});
