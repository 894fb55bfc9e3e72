import type mysql from 'mysql2/promise';
import { expect } from 'vitest';
import { MysqlDriver, type MysqlDriverOptions, type MysqlPool } from '../src/index.js';
import { aJob, Clock } from './fixtures.js';

/** A text with everything that a careless client or server would change. */
const AWKWARD = 'é😀 \\ \' " \u200b ? :id \u0001 --';

/** Everything a driver does, once, with what it has to answer. The tables are empty, and count from 1. */
export async function useAll(pool: MysqlPool, options: MysqlDriverOptions = {}): Promise<void> {
  const clock = new Clock();
  await using driver = new MysqlDriver(pool, { now: clock.now, onWarning: () => {}, ...options });
  await driver.createTables();
  const [first = 0, second = 0, third = 0, again] = await driver.pushMany([
    aJob({ unique: 'k é', payload: { text: AWKWARD } }),
    aJob({ queue: 'mail é' }),
    aJob({ delay: 60 }),
    aJob({ unique: 'k é' }),
  ]);
  expect([second - first, third - second, again]).toStrictEqual([1, 1, first]);
  expect(await driver.push(aJob({ unique: 'k é' }))).toBe(first);
  expect(await driver.push(aJob({ unique: 'K é', queue: 'mail é' }))).toBeGreaterThan(third);
  const job = await driver.reserve(['none', 'default'], 60, 'host:1');
  expect(job).toMatchObject({ id: first, attempts: 1, maxAttempts: 3, reclaimed: false, payload: { text: AWKWARD } });
  if (job === null) return;
  expect([await driver.extend(job, 60), await driver.extend(job, 60)]).toStrictEqual([true, true]);
  expect(await driver.find(job.id)).toMatchObject({
    state: 'reserved',
    unique: 'k é',
    reservedBy: 'host:1',
    reservedUntil: new Date('2031-05-17T10:21:30Z'),
    availableAt: new Date('2031-05-17T10:20:30Z'),
  });
  expect(await driver.release(job, 0, AWKWARD)).toBe(true);
  expect(await driver.release(job, 0, '')).toBe(false);
  expect(await driver.find(job.id)).toMatchObject({ state: 'pending', lastError: AWKWARD, reservedBy: null, ahead: 0 });
  const [claimed, ...others] = await driver.reserveMany(['default', 'mail é'], 10, 60, 'host:2');
  expect([claimed?.attempts, others.length]).toStrictEqual([2, 2]);
  if (claimed === undefined) return;
  expect(await driver.fail(claimed, AWKWARD)).toBe(true);
  expect(await driver.deleteMany([...others, claimed])).toStrictEqual([claimed]);
  expect(await driver.stats()).toStrictEqual([{ queue: 'default', pending: 0, delayed: 1, reserved: 0, total: 1 }]);
  const [failure] = await driver.failedRows(10);
  expect(failure).toMatchObject({
    failedAt: new Date('2031-05-17T10:20:30Z'),
    attempts: 2,
    error: AWKWARD,
    payloadJson: JSON.stringify({ text: AWKWARD }),
  });
  expect(await driver.findFailed(failure?.id ?? 0)).toStrictEqual(failure);
  expect([await driver.failedCount(), await driver.retryFailed('all', 5)]).toStrictEqual([1, 1]);
  const retried = await driver.reserve(['default'], 0, 'host:1');
  expect(retried).toMatchObject({ attempts: 1, maxAttempts: 5, payload: { text: AWKWARD } });
  expect(await driver.reserve(['default'], 60, 'host:1')).toMatchObject({ attempts: 2, reclaimed: true });
  expect([await driver.pending(), await driver.forgetFailed('all')]).toStrictEqual([0, 0]);
  await withinTransactions(driver, pool);
}

async function withinTransactions(driver: MysqlDriver, pool: MysqlPool): Promise<void> {
  // The cast: both flavours give a connection with promises this way.
  const promising = (pool as { promise?: () => mysql.Pool }).promise?.() ?? (pool as mysql.Pool);
  for (const end of ['rollback', 'commit'] as const) {
    const connection = await promising.getConnection();
    await connection.beginTransaction();
    const within = driver.within(connection);
    const id = await within.push(aJob({ queue: 'tx', unique: 'tx é' }));
    expect(await within.pushMany([aJob({ queue: 'tx', unique: 'tx é' })])).toStrictEqual([id]);
    await connection[end]();
    connection.release();
    expect(await driver.pending('tx'), end).toBe(end === 'commit' ? 1 : 0);
  }
  const job = await driver.reserve(['tx'], 60, 'host:1');
  const connection = await promising.getConnection();
  await connection.beginTransaction();
  expect(job !== null && (await driver.within(connection).delete(job))).toBe(true);
  await connection.commit();
  connection.release();
  expect(await driver.pending('tx')).toBe(0);
}
