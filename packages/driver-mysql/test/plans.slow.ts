import mysql from 'mysql2/promise';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MysqlDriver } from '../src/index.js';
import { render } from '../src/literals.js';
import { statementTexts } from '../src/statements.js';
import { aJob, aPool, emptyTables, NOW, open, rowsOf, useDatabase } from './fixtures.js';
import { describeLocks, driverOn, explained, fill } from './locks.js';
import { SERVERS } from './servers.js';

const texts = statementTexts({ table: 'queue_jobs', failedTable: 'queue_failed_jobs' });
const RESERVE = 'idx_queue_jobs_reserve';

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}

describe.each(SERVERS)('on $name', ({ name, url: serverUrl, skipsLocked, unlocksPassed }) => {
  const database = useDatabase(serverUrl);
  beforeAll(() => emptyTables(database.url()));

  it.each(['as it was when it was empty', 'analysed'])(
    'the statements of a claim are one range of the index each, without a sort, in a table of 100,000 rows, %s',
    async (how) => {
      const pool = aPool(database.url());
      await pool.query('TRUNCATE queue_jobs');
      await pool.query('ANALYZE TABLE queue_jobs');
      // Statistics are those of the empty table: the server takes new ones by itself, unless it is told not to.
      await pool.query('ALTER TABLE queue_jobs STATS_AUTO_RECALC = 0');
      await fill(pool, { ready: 90_000, delayed: 10_000, priorities: 7 });
      if (how === 'analysed') await pool.query('ANALYZE TABLE queue_jobs');
      await pool.query('ALTER TABLE queue_jobs STATS_AUTO_RECALC = 1');
      for (const limit of [1, 10, 100, 1_000]) {
        const values = { queue: 'default', priority: 3, now: NOW, limit };
        for (const statement of ['candidates', 'candidatesSkippingLocked', 'candidatesWaiting'] as const) {
          if (statement === 'candidatesSkippingLocked' && !skipsLocked) continue;
          expect(await explained(pool, render(texts[statement], values)), statement).toStrictEqual([
            `range ${RESERVE}`,
          ]);
        }
      }
      for (const statement of ['topPriority', 'nextPriority'] as const) {
        const sql = render(texts[statement], { queue: 'default', priority: 3 });
        const [plan] = await explained(pool, sql);
        expect(plan, statement).toMatch(/^(?:ref|range) idx_queue_jobs_reserve$/);
        // However many rows there are, a level is one jump.
        const connection = await pool.getConnection();
        await connection.query('FLUSH STATUS').catch(() => {});
        const before = await handlerReads(connection);
        await connection.query(sql);
        expect((await handlerReads(connection)) - before, statement).toBeLessThan(10);
        connection.release();
      }
    },
  );

  it('100,000 delayed jobs of higher priorities cost a claim one jump in the index for each priority', async () => {
    const pool = aPool(database.url());
    const driver = driverOn(database.url());
    const claims = async (): Promise<number> => {
      const times: number[] = [];
      for (let round = 0; round < 40; round += 1) {
        const start = performance.now();
        const job = await driver.reserve(['default'], 60, 'w');
        times.push(performance.now() - start);
        if (job !== null) await driver.release(job, 0, '');
      }
      return median(times);
    };
    await fill(pool, { ready: 1_000, priorities: 1 });
    const without = await claims();
    await fill(pool, { ready: 1_000, delayed: 100_000, priorities: 1 });
    const behind = await claims();
    console.log(`${name}: a claim takes ${without.toFixed(2)} ms, behind 100,000 delayed jobs ${behind.toFixed(2)} ms`);
    // Three priorities more are three levels more: six round trips.
    expect(behind).toBeLessThan(without * 4 + 5);
    await pool.query('TRUNCATE queue_jobs');
  });

  it('5,000 jobs done beside a transaction that stays open, and keeps their rows in the index, slow a claim down by little', async () => {
    const { pool, driver } = await open(database.url());
    const other = await open(database.url(), { tables: false, table: 'other_jobs', failedTable: 'other_failed' });
    await other.driver.createTables();
    const idle = await mysql.createConnection(database.url());
    await idle.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await driver.pushMany(Array.from({ length: 5_000 }, () => aJob()));
    for (let round = 0; round < 5; round += 1) {
      await driver.deleteMany(await driver.reserveMany(['default'], 1_000, 60, 'w'));
    }
    for (const one of [driver, other.driver]) await one.pushMany(Array.from({ length: 100 }, () => aJob()));
    // By turns, so that what else the machine does is the same for both.
    const claim = async (one: MysqlDriver): Promise<number> => {
      const start = performance.now();
      expect(await one.reserve(['default'], 60, 'w')).not.toBeNull();
      return performance.now() - start;
    };
    const [behind, fresh]: [number[], number[]] = [[], []];
    for (let round = 0; round < 100; round += 1) {
      behind.push(await claim(driver));
      fresh.push(await claim(other.driver));
    }
    await idle.end();
    const [slow, quick] = [median(behind), median(fresh)];
    console.log(
      `${name}: a claim takes ${quick.toFixed(2)} ms, behind 5,000 rows that cannot go ${slow.toFixed(2)} ms`,
    );
    // Each row that the server may not clear away yet is stepped over.
    expect(slow).toBeLessThan(quick * 10 + 10);
    await pool.query('DROP TABLE other_jobs, other_failed');
  });

  describeLocks(name, database.url, {
    skipsLocked,
    unlocksPassed,
    large: [
      { ready: 50_000, priorities: 1 },
      { ready: 50_000, priorities: 3 },
    ],
  });
});

async function handlerReads(connection: Parameters<typeof rowsOf>[0]): Promise<number> {
  const rows = await rowsOf(connection, "SHOW SESSION STATUS LIKE 'Handler_read%'");
  return rows.reduce((sum, [, value]) => sum + Number(value), 0);
}
