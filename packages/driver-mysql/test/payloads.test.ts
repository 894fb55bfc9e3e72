import { isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import type { MysqlDriver } from '../src/index.js';
import { aJob, count, open, rowsOf, useDatabase } from './fixtures.js';

const database = useDatabase();

/** A payload whose JSON has exactly so many bytes. */
function payloadOf(bytes: number, character = 'x'): object {
  const width = Buffer.byteLength(character);
  const rest = bytes - '{"t":""}'.length;
  return { t: character.repeat(Math.floor(rest / width)) + 'y'.repeat(rest % width) };
}

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'not refused',
    (error: unknown) => error,
  );
}

async function openTyped(type: string, mode: string, failedType = type) {
  const names = { table: `${type}_jobs`, failedTable: `${type}_${failedType}_failed` };
  const opened = await open(database.url(), { tables: false, maxPayloadBytes: 2 ** 20, ...names });
  opened.pool.on('connection', (connection) => connection.query(`SET sql_mode = '${mode}'`));
  await opened.driver.createTables();
  await opened.pool.query(`ALTER TABLE ${names.table} MODIFY payload ${type} NOT NULL`);
  await opened.pool.query(`ALTER TABLE ${names.failedTable} MODIFY payload ${failedType} NOT NULL`);
  await opened.pool.query(`TRUNCATE ${names.table}`);
  await opened.pool.query(`TRUNCATE ${names.failedTable}`);
  return { ...opened, ...names };
}

describe('a payload', () => {
  it.each(['x', 'é', '😀'])(
    'of 65,535 bytes of %s is stored as it is, and one of a byte more is refused',
    async (character) => {
      const { pool, driver } = await open(database.url());
      await driver.push(aJob({ payload: payloadOf(65_535, character) }));
      const job = await driver.reserve(['default'], 60, 'w');
      expect(job?.payload).toStrictEqual(payloadOf(65_535, character));
      if (job !== null) await driver.fail(job, 'no');
      expect(await rowsOf(pool, 'SELECT octet_length(payload) FROM queue_failed_jobs')).toStrictEqual([['65535']]);
      const error = await refusalOf(driver.push(aJob({ payload: payloadOf(65_536, character) })));
      expect(isQueueError(error, 'payload_too_large')).toBe(true);
    },
  );

  it('is the text that was given, not the JSON that a server would make of it', async () => {
    const { pool, driver } = await open(database.url());
    const text = '{"b":1,"a":1.0,"n":12345678901234567890,"a":2}';
    await pool.query(
      `INSERT INTO queue_jobs (name, payload, last_error, available_at, created_at) VALUES ('a', '${text}', '', '2031-01-01', '2031-01-01')`,
    );
    expect((await driver.reserve(['default'], 60, 'w'))?.payloadJson).toBe(text);
  });

  describe.each(['', 'TRADITIONAL'])('longer than a TEXT, where sql_mode is %j', (mode) => {
    const ways: [string, (driver: MysqlDriver, payload: object) => Promise<unknown>][] = [
      ['push', (driver, payload) => driver.push(aJob({ payload }))],
      ['pushMany', (driver, payload) => driver.pushMany([aJob(), aJob({ payload }), aJob()])],
    ];

    it.each(ways)('is refused by %s where the column is still a TEXT, and nothing is stored', async (_, push) => {
      const { pool, driver, table } = await openTyped('text', mode);
      const error = await refusalOf(push(driver, payloadOf(70_000)));
      if (mode === '') expect(isQueueError(error, 'payload_too_large')).toBe(true);
      else expect(error).toMatchObject({ errno: 1406 });
      expect(await count(pool, table)).toBe(0);
    });

    it('is refused in a transaction of the application’s, which goes on', async () => {
      const { pool, driver, table } = await openTyped('text', mode);
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      for (const [, push] of ways) {
        const within = { ...driver.within(connection) } as unknown as MysqlDriver;
        expect(await refusalOf(push(within, payloadOf(70_000)))).not.toBe('not refused');
      }
      const id = await driver.within(connection).push(aJob());
      await connection.commit();
      connection.release();
      expect(await rowsOf(pool, `SELECT id FROM ${table}`)).toStrictEqual([[String(id)]]);
    });

    it('is stored, run, failed and requeued whole where the columns are MEDIUMTEXT', async () => {
      const { pool, driver, table, failedTable } = await openTyped('mediumtext', mode);
      const payload = payloadOf(900_000, 'é');
      await driver.pushMany([aJob(), aJob({ payload }), aJob()]);
      await driver.push(aJob({ payload }));
      const jobs = await driver.reserveMany(['default'], 9, 60, 'w');
      expect(jobs.map((job) => JSON.stringify(job.payload).length)).toStrictEqual([15, 450_004, 15, 450_004]);
      for (const job of jobs) expect(await driver.fail(job, 'no')).toBe(true);
      expect(await rowsOf(pool, `SELECT max(octet_length(payload)) FROM ${failedTable}`)).toStrictEqual([['900000']]);
      expect(await driver.retryFailed('all', 3)).toBe(4);
      expect(await rowsOf(pool, `SELECT sum(octet_length(payload)) FROM ${table}`)).toStrictEqual([['1800030']]);
    });

    it('stays where it is when the failed table cannot hold it', async () => {
      const { pool, driver, table, failedTable } = await openTyped('mediumtext', mode, 'text');
      await driver.push(aJob({ payload: payloadOf(70_000) }));
      const job = await driver.reserve(['default'], 60, 'w');
      if (job === null) throw new Error('no job');
      expect(await refusalOf(driver.fail(job, 'no'))).not.toBe('not refused');
      expect([await count(pool, table), await count(pool, failedTable)]).toStrictEqual([1, 0]);
    });
  });
});

describe('an error text', () => {
  it.each(['x', 'é', '😀', '\\', "'"])('of 60,000 bytes of %s and more fits its column', async (character) => {
    const { pool, driver } = await open(database.url());
    pool.on('connection', (connection) => connection.query("SET sql_mode = ''"));
    const error = character.repeat(70_000);
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job !== null && (await driver.release(job, 0, error))).toBe(true);
    const again = await driver.reserve(['default'], 60, 'w');
    const stored = await rowsOf(pool, 'SELECT last_error FROM queue_jobs');
    expect(again !== null && (await driver.fail(again, error))).toBe(true);
    const [failure] = await driver.failedRows(1);
    expect(failure?.error).toBe(stored[0]?.[0]);
    expect(failure?.error.endsWith(`${character}\n... truncated`)).toBe(true);
    expect(Buffer.byteLength(failure?.error ?? '')).toBe(60_000 + '\n... truncated'.length);
  });
});
