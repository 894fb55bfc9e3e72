import { isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { aJob, count, open, rowsOf, useDatabase } from './fixtures.js';

const database = useDatabase();

/** Texts that one collation or another holds for the same. */
const DIFFERENT: readonly (readonly string[])[] = [
  ['A', 'a', 'á', 'Á', 'à'],
  ['caf\u00e9', 'cafe\u0301', 'cafe'],
  ['ß', 'ss', 'SS', 'ẞ'],
  ['\u200b', 'x\u200b', 'x', 'x\u00ad'],
  ['1', '01', '1.0', '٣', '3'],
  ['😀', '😁', '👍', '👍🏽'],
  ['ı', 'i', 'İ', 'I'],
  ['a b', 'a  b', 'a\u00a0b'],
  ['%', '_', '\\', "'", '"', '`'],
];
const MODES = ["SET sql_mode = ''", "SET sql_mode = 'TRADITIONAL'"];

describe.each(MODES)('in a session with %s', (mode) => {
  async function openIn() {
    const opened = await open(database.url());
    opened.pool.on('connection', (connection) => connection.query(mode));
    return opened;
  }

  it('keys are compared byte for byte', async () => {
    const { pool, driver } = await openIn();
    for (const keys of DIFFERENT) {
      const ids = await driver.pushMany(keys.map((unique) => aJob({ unique })));
      expect(new Set(ids).size, keys.join()).toBe(keys.length);
      for (const [index, unique] of keys.entries())
        expect(await driver.push(aJob({ unique })), unique).toBe(ids[index]);
    }
    expect(await count(pool)).toBe(DIFFERENT.flat().length);
  });

  it('queues and names are too', async () => {
    const { driver } = await openIn();
    for (const names of DIFFERENT) {
      for (const name of names) await driver.push(aJob({ queue: name, name }));
      for (const name of names) {
        expect(await driver.pending(name), name).toBe(1);
        const job = await driver.reserve([name], 60, 'w');
        expect([job?.queue, job?.name]).toStrictEqual([name, name]);
        expect(await driver.reserve([name], 60, 'w')).toBeNull();
      }
    }
  });

  it('190 emoji are a key as they are, and 300 are refused before the store is asked', async () => {
    const { pool, driver } = await openIn();
    const key = '😀'.repeat(190);
    const id = await driver.push(aJob({ unique: key, name: key, queue: '😀'.repeat(64) }));
    expect(await driver.push(aJob({ unique: key }))).toBe(id);
    expect(await rowsOf(pool, 'SELECT char_length(unique_key), hex(unique_key) FROM queue_jobs')).toStrictEqual([
      ['190', 'F09F9880'.repeat(190)],
    ]);
    for (const unique of ['😀'.repeat(300), '😀'.repeat(191), 'k ', ' k', 'k\0', '\ud83d']) {
      const error = await driver.push(aJob({ unique })).catch((reason: unknown) => reason);
      expect(isQueueError(error, 'invalid_text')).toBe(true);
    }
    expect(await count(pool)).toBe(1);
  });
});

describe('a unique key', () => {
  it('pushed a thousand times gives one id, and takes no other job’s', async () => {
    const { pool, driver } = await open(database.url());
    const id = await driver.push(aJob({ unique: 'k' }));
    const ids = await Promise.all(Array.from({ length: 1_000 }, () => driver.push(aJob({ unique: 'k' }))));
    expect(new Set(ids)).toStrictEqual(new Set([id]));
    expect(await count(pool)).toBe(1);
  });

  it('that another index of the application’s refuses is that error, not a held key', async () => {
    const { pool, driver } = await open(database.url(), {
      tables: false,
      table: 'strict_jobs',
      failedTable: 'strict_failed',
    });
    await driver.createTables();
    await pool.query('ALTER TABLE strict_jobs ADD UNIQUE KEY one_of_a_name (name)');
    await driver.push(aJob());
    await expect(driver.push(aJob())).rejects.toMatchObject({ errno: 1062 });
    const error: unknown = await driver.push(aJob({ unique: 'k' })).catch((reason: unknown) => reason);
    expect(isQueueError(error, 'store_busy')).toBe(true);
    expect(error).toMatchObject({ cause: { errno: 1062 } });
  });

  it('is held or free under every schedule of five transactions, four of which roll back', async () => {
    const { pool, driver } = await open(database.url());
    // As an application does it: what a deadlock has cost is done again, from the beginning.
    const transaction = async (unique: string, end: 'commit' | 'rollback'): Promise<number> => {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        const id = await driver.within(connection).push(aJob({ unique }));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        await connection[end]();
        return id;
      } catch (error) {
        expect(error).toMatchObject({ errno: 1213, transactionLost: true });
        await connection.rollback();
      } finally {
        connection.release();
      }
      return transaction(unique, end);
    };
    for (let round = 0; round < 25; round += 1) {
      const unique = `k${round}`;
      const keeps = round % 5;
      const ends = Array.from({ length: 5 }, (_, index) =>
        index === keeps ? ('commit' as const) : ('rollback' as const),
      );
      const ids = await Promise.all(ends.map((end) => transaction(unique, end)));
      const stored = await rowsOf(pool, `SELECT id FROM queue_jobs WHERE unique_key = '${unique}'`);
      expect(
        stored.map(([id]) => Number(id)),
        `round ${round}`,
      ).toStrictEqual([ids[keeps]]);
    }
  });

  it('is held by one job after plain pushes of it at once, while transactions with it roll back', async () => {
    const { pool, driver } = await open(database.url());
    for (let round = 0; round < 25; round += 1) {
      const unique = `k${round}`;
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await driver.within(connection).push(aJob({ unique }));
      const pushing = Promise.all(Array.from({ length: 4 }, () => driver.push(aJob({ unique }))));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      await connection.rollback();
      connection.release();
      const ids = await pushing;
      const stored = await rowsOf(pool, `SELECT id FROM queue_jobs WHERE unique_key = '${unique}'`);
      expect([new Set(ids).size, stored], `round ${round}`).toStrictEqual([1, [[String(ids[0])]]]);
    }
  });
});
