import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { aJob, count, open, until, useDatabase } from './fixtures.js';

const database = useDatabase();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('five transactions that push one key, four of which roll back', () => {
  it('leave exactly one job, in each of 200 random schedules, and each commit that could be made is', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 8 } });
    await pool.query('CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)');
    const ids: number[] = [];
    for (let schedule = 0; schedule < 200; schedule += 1) {
      const committer = Math.floor(Math.random() * 5);
      const end = async (index: number): Promise<number | null> => {
        const client = await pool.connect();
        await pause(Math.random() * 4);
        await client.query('BEGIN');
        await client.query('INSERT INTO notes (text) VALUES ($1)', [`${schedule}`]);
        const id = await driver.within(client).push(aJob({ unique: `k${schedule}` }));
        await pause(Math.random() * 4);
        // The transaction goes on, whoever holds the key.
        await client.query('SELECT 1');
        const { command } = await client.query(index === committer ? 'COMMIT' : 'ROLLBACK');
        client.release();
        if (command !== (index === committer ? 'COMMIT' : 'ROLLBACK')) throw new Error(command);
        return index === committer ? id : null;
      };
      const ended = await Promise.all([0, 1, 2, 3, 4].map(end));
      const { rows } = await pool.query<{ id: string }>('SELECT id FROM queue_jobs WHERE unique_key = $1', [
        `k${schedule}`,
      ]);
      expect(
        rows.map(({ id }) => Number(id)),
        `schedule ${schedule}`,
      ).toStrictEqual(ended.filter((id) => id !== null));
      ids.push(...rows.map(({ id }) => Number(id)));
    }
    expect([new Set(ids).size, await count(pool), await count(pool, 'notes')]).toStrictEqual([200, 200, 200]);
  });
});

describe('plain pushes of one key', () => {
  it.each(['', 'repeatable read', 'serializable'])(
    'by 20 at once store one job and give all its id (%s)',
    async (isolation) => {
      const options = isolation === '' ? '' : `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
      const { pool, driver } = await open(database.url(), { pool: { max: 20, options } });
      for (let round = 0; round < 30; round += 1) {
        const ids = await Promise.all(Array.from({ length: 20 }, () => driver.push(aJob({ unique: `r${round}` }))));
        expect(new Set(ids).size).toBe(1);
      }
      expect(await count(pool)).toBe(30);
    },
  );
});

describe('workers above READ COMMITTED', () => {
  it('do every job once, and nobody sees an error', async () => {
    const options = '-c default_transaction_isolation=serializable';
    const { pool, driver } = await open(database.url(), { pool: { max: 10, options } });
    await driver.pushMany(Array.from({ length: 1_000 }, () => aJob()));
    const done: number[] = [];
    const work = async () => {
      for (;;) {
        const jobs = await driver.reserveMany(['default'], 3, 3_600, 'w');
        if (jobs.length === 0) return;
        expect(await driver.deleteMany(jobs)).toStrictEqual([]);
        done.push(...jobs.map(({ id }) => id));
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect([done.length, new Set(done).size, await count(pool)]).toStrictEqual([1_000, 1_000, 0]);
  });
});

describe('a claim that expires while its holder and another finish it', () => {
  it('ends once, in 200 rounds, whoever is first', async () => {
    const { pool, driver, clock } = await open(database.url());
    for (let round = 0; round < 200; round += 1) {
      await driver.push(aJob());
      const stale = await driver.reserve(['default'], 1, 'a');
      clock.advance(2);
      const [holder] = await Promise.all([driver.reserve(['default'], 60, 'b')]);
      if (stale === null || holder === null) throw new Error('both had it');
      const calls = [driver.delete(stale), driver.fail(holder, 'by b'), driver.release(stale, 0, 'by a')];
      expect(await Promise.all(round % 2 ? calls : calls.toReversed())).toStrictEqual(
        round % 2 ? [false, true, false] : [false, true, false].toReversed(),
      );
    }
    expect([await count(pool), await count(pool, 'queue_failed_jobs')]).toStrictEqual([0, 200]);
  });
});

describe('a push that waits for the holder of its key', () => {
  it('gives up after callTimeout, and its connection is not used again', async () => {
    const { pool, driver } = await open(database.url(), { callTimeout: 1 });
    const client: pg.PoolClient = await pool.connect();
    await client.query('BEGIN');
    await driver.within(client).push(aJob({ unique: 'k' }));
    await expect(driver.push(aJob({ unique: 'k' }))).rejects.toMatchObject({ code: 'call_timeout' });
    await client.query('ROLLBACK');
    client.release();
    await until('the connection is gone', () => pool.totalCount === pool.idleCount);
    expect(await driver.pending()).toBeLessThanOrEqual(1); // what became of the call is unknown
  });
});
