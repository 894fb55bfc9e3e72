import { isQueueError } from '@q/core';
import type mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  aJob,
  count,
  inShort,
  isInTransaction,
  NOW,
  open,
  proxy,
  rowsOf,
  serverError,
  until,
  useDatabase,
} from './fixtures.js';

const database = useDatabase();

async function openWithNotes(options: Parameters<typeof open>[1] = {}) {
  const opened = await open(database.url(), options);
  await opened.pool.query(
    'CREATE TABLE IF NOT EXISTS notes (id int AUTO_INCREMENT PRIMARY KEY, text text) ENGINE=InnoDB',
  );
  await opened.pool.query('TRUNCATE notes');
  return opened;
}

/** A connection with a transaction of the application's open. */
async function begin(pool: mysql.Pool, settings: readonly string[] = []): Promise<mysql.PoolConnection> {
  const connection = await pool.getConnection();
  for (const setting of settings) await connection.query(setting);
  await connection.beginTransaction();
  onTestFinished(async () => {
    await connection.rollback().catch(() => {});
    connection.destroy(); // its settings are no longer those of the pool
  });
  return connection;
}

const note = (on: mysql.Connection, text: string) => on.query(`INSERT INTO notes (text) VALUES ('${text}')`);

/** Whether a statement that begins so waits for a lock right now. */
async function isWaiting(pool: mysql.Pool, beginning: string): Promise<boolean> {
  const rows = await rowsOf(pool, 'SHOW PROCESSLIST');
  return rows.some((row) => row.some((cell) => cell?.trimStart().startsWith(beginning) ?? false));
}

type Refusal = Error & { transactionLost?: true; errno?: number };

async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  return call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error) => error,
  );
}

/** A connection that takes notes of what is sent on it, and can be made to fail. */
function spied(connection: mysql.PoolConnection, fail: (sql: string) => unknown = () => null) {
  const sent: string[] = [];
  const query = (options: string | { sql: string }) => {
    const sql = typeof options === 'string' ? options : options.sql;
    sent.push(sql);
    const error = fail(sql);
    return error === null || error === undefined ? connection.query(options as string) : Promise.reject(error);
  };
  return { connection: proxy(connection, { query }), sent };
}

describe('within a transaction of the application', () => {
  it('duplicates and bad input cost nothing: what was before and what comes after is committed', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await begin(pool);
    const within = driver.within(connection);
    await note(connection, 'a');
    const first = await within.push(aJob({ unique: 'k' }));
    expect(await within.push(aJob({ unique: 'k' }))).toBe(first);
    await refusalOf(within.push(aJob({ payload: { id: 1n } })));
    await refusalOf(within.push(aJob({ payload: { text: 'x'.repeat(70_000_000) } })));
    await refusalOf(within.push(aJob({ name: 'a\0' })));
    await refusalOf(within.push(aJob({ unique: '\ud800' })));
    await refusalOf(within.pushMany([aJob(), aJob({ queue: '' })]));
    await refusalOf(within.delete({ id: {}, attempts: 1, handle: '' } as never));
    expect(await within.delete({ id: 99, attempts: 2 ** 40, handle: '' })).toBe(false);
    await note(connection, 'b');
    await connection.commit();
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([2, 1]);
  });

  it.each([0, 1])(
    'at REPEATABLE READ a key gives its holder’s id, committed after the snapshot or not (innodb_snapshot_isolation %i, where there is such a thing)',
    async (isolation) => {
      const { pool, driver } = await openWithNotes();
      const connection = await begin(pool, [`SET @plain = 1 /*M!, innodb_snapshot_isolation = ${isolation} */`]);
      expect(await count(connection)).toBe(0); // the snapshot
      const holder = await driver.push(aJob({ unique: 'k' }));
      const other = await driver.push(aJob({ unique: 'l' }));
      expect(await rowsOf(connection, "SELECT id FROM queue_jobs WHERE unique_key = 'k'")).toStrictEqual([]);
      expect(await driver.within(connection).push(aJob({ unique: 'k' }))).toBe(holder);
      expect(
        await driver.within(connection).pushMany([aJob(), aJob({ unique: 'l' }), aJob({ unique: 'k' })]),
      ).toStrictEqual([expect.any(Number), other, holder]);
      await note(connection, 'goes on');
      await connection.commit();
      expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 3]);
    },
  );

  it('the loser of a race for a key waits, gets the holder’s id, and goes on', async () => {
    const { pool, driver } = await openWithNotes();
    const [one, other] = [await begin(pool), await begin(pool)];
    const holder = await driver.within(one).push(aJob({ unique: 'k' }));
    await note(other, 'of the loser');
    const loser = driver.within(other).push(aJob({ unique: 'k' }));
    await until('the loser waits', () => isWaiting(pool, 'INSERT'));
    await one.commit();
    expect(await loser).toBe(holder);
    await driver.within(other).push(aJob());
    await other.commit();
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 2]);
  });

  it.each(['commit', 'rollback'] as const)(
    'a plain push waits for a holder within one, which ends with %s',
    async (end) => {
      const { pool, driver } = await openWithNotes();
      const connection = await begin(pool);
      const holder = await driver.within(connection).push(aJob({ unique: 'k' }));
      const waiting = driver.push(aJob({ unique: 'k' }));
      await until('it waits', () => isWaiting(pool, 'INSERT'));
      await connection[end]();
      expect((await waiting) === holder).toBe(end === 'commit');
      expect(await count(pool)).toBe(1);
    },
  );

  it('a wait that innodb_lock_wait_timeout ends is that error, and not a duplicate; the transaction goes on', async () => {
    const { pool, driver } = await openWithNotes();
    const one = await begin(pool);
    const other = await begin(pool, ['SET innodb_lock_wait_timeout = 1']);
    await driver.within(one).push(aJob({ unique: 'k' }));
    await note(other, 'mine');
    const error = await refusalOf(driver.within(other).push(aJob({ unique: 'k' })));
    expect([error.errno, error.transactionLost]).toStrictEqual([1205, undefined]);
    const batch = await refusalOf(driver.within(other).pushMany([aJob(), aJob({ unique: 'k' })]));
    expect([batch.errno, batch.transactionLost]).toStrictEqual([1205, undefined]);
    await other.commit();
    await one.rollback();
    // All of a batch or nothing of it, though the transaction is not ours to undo.
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 0]);
  });

  it('a batch that is refused at its end is taken back, however large it was, in statements of a bounded size', async () => {
    const { pool, driver } = await openWithNotes({ maxPayloadBytes: 100_000 });
    const { connection, sent } = spied(await begin(pool));
    await note(connection, 'mine');
    const jobs = [...Array.from({ length: 2_500 }, () => aJob()), aJob({ payload: { text: 'x'.repeat(70_000) } })];
    const error = await refusalOf(driver.within(connection).pushMany(jobs));
    expect([error.errno, error.transactionLost]).toStrictEqual([1406, undefined]);
    const ids = sent.filter((sql) => /^\s*DELETE/.test(sql)).map((sql) => sql.match(/AS id\b/g)?.length);
    expect(ids).toStrictEqual([1_000, 1_000, 500]);
    await connection.commit();
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 0]);
  });

  it('a deadlock is passed on untouched, marked as having cost the transaction, and nothing is sent after it', async () => {
    const { pool, driver } = await openWithNotes();
    const sites = [spied(await begin(pool)), spied(await begin(pool))] as const;
    for (const { connection } of sites) await note(connection, 'mine');
    await driver.within(sites[0].connection).push(aJob({ unique: 'a' }));
    await driver.within(sites[1].connection).push(aJob({ unique: 'b' }));
    const end = async ({ connection, sent }: (typeof sites)[number], unique: string) => {
      const before = sent.length;
      try {
        await driver.within(connection).push(aJob({ unique }));
        await connection.commit();
      } catch (error) {
        // What ended it was the insert, and it was the last.
        expect(sent.slice(before).map(inShort)).toStrictEqual(['DO 0', 'INSERT INTO `queue_jobs`']);
        throw error;
      }
    };
    const ends = await Promise.allSettled([end(sites[0], 'b'), end(sites[1], 'a')]);
    const refused = ends.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => [reason.errno, reason.transactionLost])).toStrictEqual([[1213, true]]);
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 2]);
  });

  it('an error that ended the transaction by a setting of the server’s is marked too', async () => {
    const { pool, driver } = await openWithNotes();
    const inner = await begin(pool);
    // As with innodb_rollback_on_timeout: the server rolls all of it back, and says so when it is asked.
    let isGone = false;
    const { connection } = spied(inner, (sql) => {
      if (!/INSERT INTO `queue_jobs`/.test(sql) || isGone) return null;
      isGone = true;
      void inner.rollback();
      return serverError(1205);
    });
    const error = await refusalOf(driver.within(connection).push(aJob()));
    expect([error.errno, error.transactionLost]).toStrictEqual([1205, true]);
  });

  it('a push into one that is read-only is refused (1792), which costs nothing', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION READ ONLY');
    const error = await refusalOf(driver.within(connection).push(aJob()));
    expect([error.errno, error.transactionLost, await isInTransaction(connection)]).toStrictEqual([
      1792,
      undefined,
      true,
    ]);
    await connection.commit();
    connection.release();
    expect(await count(pool)).toBe(0);
  });

  it('a lost connection is marked as well', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await begin(pool);
    connection.on('error', () => {});
    await pool.query(`KILL ${connection.threadId}`);
    const within = driver.within(connection);
    for (const call of [() => within.push(aJob()), () => within.pushMany([aJob()])]) {
      const error = await refusalOf(call());
      expect([isQueueError(error), error.transactionLost]).toStrictEqual([false, true]);
    }
    expect(await count(pool)).toBe(0);
  });

  it('nothing is ever sent but single statements: no BEGIN, no COMMIT, no savepoint, and none twice', async () => {
    const { pool, driver } = await openWithNotes();
    const { connection, sent } = spied(await begin(pool));
    const within = driver.within(connection);
    await within.push(aJob({ unique: 'k' }));
    await within.push(aJob({ unique: 'k' }));
    await within.pushMany([aJob({ unique: 'k' }), aJob(), aJob()]);
    await within.delete({ id: 1, attempts: 1, handle: '' });
    await refusalOf(within.push(aJob({ name: '' })));
    expect(sent.map(inShort).join('\n')).not.toMatch(/BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|^SET/m);
    const { connection: failing, sent: once } = spied(await begin(pool), (sql) => {
      return /INSERT/.test(sql) ? serverError(1213) : null;
    });
    expect((await refusalOf(driver.within(failing).push(aJob()))).transactionLost).toBe(true);
    expect(once.filter((sql) => /INSERT/.test(sql)).length).toBe(1);
  });

  it('a job deleted in it is not locked for those who claim others, nor are inserts', async () => {
    const { pool, driver } = await openWithNotes();
    await driver.pushMany(Array.from({ length: 4 }, () => aJob()));
    const [first, second, third] = await driver.reserveMany(['default'], 3, 60, 'w');
    if (first === undefined || second === undefined || third === undefined) throw new Error('three jobs');
    const connection = await begin(pool);
    expect(await driver.within(connection).delete(first)).toBe(true);
    const start = performance.now();
    expect(await driver.deleteMany([second])).toStrictEqual([]);
    expect(await driver.extendMany([third], 60)).toStrictEqual([]);
    expect(await driver.fail(third, '')).toBe(true);
    expect((await driver.reserve(['default'], 60, 'w'))?.id).toBe(4);
    await driver.push(aJob());
    expect(await driver.pending()).toBe(1);
    expect(performance.now() - start).toBeLessThan(10_000); // a lock is waited for for 50 s
    await connection.commit();
  });

  it('a job is late by nothing that the transaction took before its push', async () => {
    const { pool, driver, clock } = await openWithNotes();
    const connection = await begin(pool);
    await connection.query('SELECT now()');
    clock.advance(30);
    await driver.within(connection).push(aJob({ delay: 2 }));
    await connection.commit();
    const expected = [['2031-05-17 10:21:02', '2031-05-17 10:21:00']];
    expect(await rowsOf(pool, 'SELECT available_at, created_at FROM queue_jobs')).toStrictEqual(expected);
    expect(NOW).toBe('2031-05-17 10:20:30');
  });
});

describe('what within takes', () => {
  it('is a connection of either flavour with a transaction open, and no pool', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await begin(pool);
    await driver.within(connection).push(aJob());
    await driver.within(connection.connection).push(aJob());
    await connection.commit();
    expect(await count(pool)).toBe(2);
    // The casts: callers without a type checker.
    for (const value of [pool, pool.pool, null, {}, { query: () => {} }, 'tx', connection.threadId]) {
      expect(() => driver.within(value as never)).toThrow(expect.objectContaining({ code: 'invalid_transaction' }));
    }
  });

  it('is looked at again at each call: a connection without a transaction takes no pushes', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await begin(pool);
    const within = driver.within(connection);
    await within.push(aJob());
    await connection.commit();
    for (const call of [
      () => within.push(aJob()),
      () => within.pushMany([aJob()]),
      () => within.delete({ id: 1, attempts: 1, handle: '' }),
    ]) {
      const error = await refusalOf(call());
      expect(isQueueError(error, 'invalid_transaction')).toBe(true);
      expect(error.message).toContain('No transaction is open on the connection given to within');
    }
    expect(await count(pool)).toBe(1);
  });

  it('is, without autocommit, any connection: its first statement begins a transaction', async () => {
    const { pool, driver } = await openWithNotes();
    const connection = await pool.getConnection();
    await connection.query('SET autocommit = 0');
    await driver.within(connection).push(aJob());
    expect(await count(pool)).toBe(0);
    await connection.commit();
    expect(await count(pool)).toBe(1);
    connection.destroy();
  });
});
