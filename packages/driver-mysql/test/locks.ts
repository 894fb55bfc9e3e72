// What a claim locks, on whichever server: run for one in the quick tier, and for the others in the slow one.
import mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { render } from '../src/literals.js';
import { statementTexts } from '../src/statements.js';
import { aJob, aPool, count, NOW, open, rowsOf, watched } from './fixtures.js';

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const texts = statementTexts({ table: 'queue_jobs', failedTable: 'queue_failed_jobs' });

/** Fills the table with ready rows, of one priority or of many, behind delayed ones or not. */
export async function fill(pool: mysql.Pool, { ready, delayed = 0, priorities }: Rows): Promise<void> {
  await pool.query('TRUNCATE queue_jobs');
  const insert = 'INSERT INTO queue_jobs (name, payload, last_error, priority, available_at, created_at) VALUES ';
  for (let from = 0; from < ready + delayed; from += 5_000) {
    const rows: string[] = [];
    for (let n = from; n < Math.min(from + 5_000, ready + delayed); n += 1) {
      const [priority, due] = n < delayed ? [priorities + (n % 3), '2040-01-01 00:00:00'] : [n % priorities, NOW];
      rows.push(`('job', '{"n":${n}}', '', ${priority}, '${due}', '${NOW}')`);
    }
    await pool.query(insert + rows.join());
  }
}

const READY: readonly Rows[] = [
  { ready: 500, priorities: 1 },
  { ready: 500, priorities: 2 },
  { ready: 500, priorities: 7 },
  { ready: 12, priorities: 1 },
  { ready: 500, delayed: 500, priorities: 3 },
];

interface Rows {
  readonly ready: number;
  readonly delayed?: number;
  readonly priorities: number;
}

export interface LockingServer {
  readonly skipsLocked: boolean;
  /** Whether it gives back the locks of rows that a locking read has passed, because a live claim holds them. */
  readonly unlocksPassed: boolean;
  /** Tables to try, besides the small ones. */
  readonly large?: readonly Rows[];
}

export function describeLocks(
  name: string,
  url: () => string,
  { skipsLocked, unlocksPassed, large = [] }: LockingServer,
): void {
  describe(`on ${name}, a transaction that has claimed five jobs and stays open`, () => {
    /** Claims five as a reserve does, and does not commit. */
    async function claimAndStay(): Promise<{ readonly connection: mysql.Connection; readonly ids: number[] }> {
      const connection = await mysql.createConnection(url());
      onTestFinished(() => connection.end());
      await connection.query(texts.readCommitted);
      await connection.beginTransaction();
      const statement = skipsLocked ? texts.candidatesSkippingLocked : texts.candidates;
      let level = await rowsOf(connection, render(texts.topPriority, { queue: 'default' }));
      let ids: number[] = [];
      while (ids.length === 0) {
        const at = { queue: 'default', priority: Number(level[0]?.[0]) };
        ids = (await rowsOf(connection, render(statement, { ...at, now: NOW, limit: 5 }))).map(([id]) => Number(id));
        level = await rowsOf(connection, render(texts.nextPriority, at));
      }
      await connection.query(render(texts.claimLocked, { ids, until: '2031-05-17 11:00:00', worker: 'one', now: NOW }));
      return { connection, ids };
    }

    // Without the clause a second claim has the candidates of the first, and has to try again: unlocked.test.ts.
    it.each(skipsLocked ? [...READY, ...large] : [])(
      '$ready ready rows of $priorities priorities: another claim of five is had at once',
      async (rows) => {
        const { pool, driver } = await open(url());
        await fill(pool, rows);
        const { connection, ids } = await claimAndStay();
        expect(ids.length).toBe(5);
        const start = performance.now();
        const others = await driver.reserveMany(['default'], 5, 60, 'other');
        expect(performance.now() - start).toBeLessThan(10_000); // a lock is waited for for 50 s
        expect(others.length).toBe(5);
        expect(new Set([...ids, ...others.map(({ id }) => id)]).size).toBe(10);
        await connection.rollback();
      },
    );

    it('keeps nobody from inserting, beside the queue and into it, wherever in its order', async () => {
      const { pool, driver } = await open(url());
      await fill(pool, { ready: 50, priorities: 2 });
      const { connection } = await claimAndStay();
      await pool.query('CREATE TABLE IF NOT EXISTS notes (id int AUTO_INCREMENT PRIMARY KEY, text text) ENGINE=InnoDB');
      const application = await mysql.createConnection(url());
      onTestFinished(() => application.end());
      await application.query('SET innodb_lock_wait_timeout = 1');
      await application.beginTransaction(); // at REPEATABLE READ
      const start = performance.now();
      await application.query("INSERT INTO notes (text) VALUES ('beside')");
      for (const priority of [-1, 0, 1, 2]) {
        await driver.push(aJob({ priority }));
        await driver.push(aJob({ priority, delay: 60, unique: `k${priority}` }));
        await driver.within(application).push(aJob({ priority, queue: priority < 0 ? 'aaa' : 'zzz' }));
      }
      await application.commit();
      expect(performance.now() - start).toBeLessThan(10_000); // a lock is waited for for 50 s
      await connection.rollback();
    });

    async function finishOthers(): Promise<{ readonly finished: Promise<unknown>; readonly claim: mysql.Connection }> {
      const { pool, driver } = await open(url());
      await fill(pool, { ready: 9, priorities: 1 });
      const [first, second, third, fourth] = await driver.reserveMany(['default'], 4, 3_600, 'w');
      if (first === undefined || second === undefined || third === undefined || fourth === undefined) throw new Error();
      const { connection } = await claimAndStay();
      const finish = async () => {
        expect(await driver.deleteMany([first, second])).toStrictEqual([]);
        expect(await driver.extendMany([third, fourth], 60)).toStrictEqual([]);
        expect([await driver.release(third, 0, ''), await driver.fail(fourth, '')]).toStrictEqual([true, true]);
        expect(await count(pool)).toBe(6);
      };
      return { finished: finish(), claim: connection };
    }

    if (unlocksPassed) {
      it('keeps nobody from finishing, releasing or extending another job', async () => {
        const { finished, claim } = await finishOthers();
        await finished;
        await claim.rollback();
      });
    } else {
      it('keeps the jobs of live claims that it passed on its way, and gives them back with its end', async () => {
        const { finished, claim } = await finishOthers();
        const isOver = await Promise.race([finished.then(() => true), pause(300).then(() => false)]);
        expect(isOver).toBe(false);
        await claim.commit();
        await finished;
      });
    }
  });

  describe(`on ${name}, a claim`, () => {
    it('blocks no insert before it has committed, where the default is REPEATABLE READ', async () => {
      const { pool } = await open(url());
      await fill(pool, { ready: 20, priorities: 2 });
      let held = 0;
      const application = aPool(url());
      application.on('connection', (connection) => connection.query('SET innodb_lock_wait_timeout = 1'));
      const pusher = new MysqlDriver(application, { now: () => new Date('2031-05-17T10:20:30Z') });
      const { driver } = await open(url(), {
        tables: false,
        wrap: (real) =>
          watched(real, {
            before: async (sql) => {
              if (sql !== texts.commit) return;
              held += 1;
              for (const priority of [0, 1, 2]) await pusher.push(aJob({ priority, queue: 'default' }));
              await pusher.push(aJob({ queue: 'aaa', unique: 'k' }));
              await application.query(
                `INSERT INTO queue_jobs (queue, name, payload, last_error, priority, available_at, created_at)
                 VALUES ('default', 'earlier', '{}', '', 1, '2030-01-01 00:00:00', '${NOW}')`,
              );
            },
          }).pool,
      });
      expect((await driver.reserveMany(['default'], 5, 60, 'w')).length).toBe(5);
      expect(held).toBe(1);
    });

    it('locks the rows that it takes, and no others, whichever its size', async () => {
      const { pool } = await open(url());
      for (const [limit, ready] of [
        [1, 5],
        [5, 500],
        [100, 500],
      ] as const) {
        await fill(pool, { ready, priorities: 1 });
        const holder = await mysql.createConnection(url());
        await holder.query(texts.readCommitted);
        await holder.beginTransaction();
        const values = { queue: 'default', priority: 0, now: NOW, limit };
        const statement = skipsLocked ? texts.candidatesSkippingLocked : texts.candidatesWaiting;
        const taken = (await rowsOf(holder, render(statement, values))).map(([id]) => Number(id));
        const free: number[] = [];
        const prober = await mysql.createConnection(url());
        await prober.query('SET innodb_lock_wait_timeout = 1');
        // Those that are next in the order, and the last: each can be locked.
        for (const id of [limit + 1, limit + 2, ready].filter((id) => id <= ready)) {
          await prober.query(`UPDATE queue_jobs SET last_error = 'mine' WHERE id = ${id}`);
          free.push(id);
        }
        expect([taken.length, free.length > 0]).toStrictEqual([limit, true]);
        await holder.end();
        await prober.end();
      }
    });
  });
}

/** The access of each table in a plan: its type, its index, and whether the server has to sort. */
export async function explained(on: mysql.Pool | mysql.Connection, sql: string): Promise<string[]> {
  const isMysql = !/mariadb/i.test((await rowsOf(on, 'SELECT version()'))[0]?.[0] ?? '');
  const [rows] = await on.query<mysql.RowDataPacket[]>({
    sql: `EXPLAIN ${isMysql ? 'FORMAT=TRADITIONAL ' : ''}${sql}`,
    rowsAsArray: false,
  });
  return rows.map((row) => `${row.type} ${row.key} ${/filesort/.test(row.Extra ?? '') ? 'filesort' : ''}`.trim());
}

/** A driver of its own, on a clock that stands still. */
export function driverOn(url: string): MysqlDriver {
  return new MysqlDriver(aPool(url), { now: () => new Date('2031-05-17T10:20:30Z'), onWarning: () => {} });
}
