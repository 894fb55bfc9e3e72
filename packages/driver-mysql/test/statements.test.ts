import mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { render } from '../src/literals.js';
import { type StatementName, type StatementTexts, statementTexts } from '../src/statements.js';
import { aJob, inShort, NOW, open, useDatabase, watched } from './fixtures.js';
import { explained } from './locks.js';
import { EXPLAINED, NAMES, VALUES, valuesFor } from './statement-values.js';
import { useAll } from './use-all.js';

const database = useDatabase();
/** A connection to a database that has the tables. */
async function installed(names = NAMES): Promise<{ connection: mysql.Connection; texts: StatementTexts }> {
  const { pool } = await open(database.url(), { tables: false });
  await new MysqlDriver(pool, names).createTables();
  const connection = await mysql.createConnection(database.url());
  onTestFinished(() => connection.end());
  return { connection, texts: statementTexts(names) };
}

describe('every statement', () => {
  it.each(EXPLAINED)('%s is understood by the server, with the installed schema', async (name) => {
    const { connection, texts } = await installed();
    await connection.query(`EXPLAIN ${render(texts[name], valuesFor(texts[name]))}`);
  });

  it('is understood where the tables are named by words of SQL', async () => {
    const { connection, texts } = await installed({ table: 'order', failedTable: 'case' });
    for (const name of EXPLAINED) await connection.query(`EXPLAIN ${render(texts[name], valuesFor(texts[name]))}`);
  });

  it('differs from one driver to the next in its table names alone', () => {
    const one = JSON.stringify(statementTexts({ table: 'aaa', failedTable: 'bbb' }));
    const other = JSON.stringify(statementTexts({ table: 'ccc', failedTable: 'ddd' }));
    expect(other.replaceAll('ccc', 'aaa').replaceAll('ddd', 'bbb')).toBe(one);
  });

  it('that changes or ends a claim is fenced by id, attempts and the claim itself, or follows one that is', () => {
    const texts = statementTexts(NAMES);
    const fence = /WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL/;
    for (const name of ['deleteClaim', 'release', 'lockClaim'] as const) expect(texts[name], name).toMatch(fence);
    expect(texts.lockClaims).toMatch(/WHERE id IN \(:ids\) AND reserved_until IS NOT NULL\s[\s\S]*FOR UPDATE$/);
  });

  it('asks the server for neither its clock nor its zone', () => {
    expect(JSON.stringify(statementTexts(NAMES))).not.toMatch(/now\(\)|current_timestamp|sysdate|curdate|utc_/i);
  });
});

describe('what the driver sends', () => {
  it('is safe for replication by statement: no LIMIT in what writes, nothing written that a SELECT chose', async () => {
    const { pool } = await open(database.url());
    const notes = watched(pool);
    await useAll(notes.pool);
    const writes = notes.sent.filter((sql) => /^\s*(?:UPDATE|DELETE|INSERT|REPLACE)\b/i.test(sql));
    expect(writes.length).toBeGreaterThan(20);
    for (const sql of writes) {
      // The one SELECT of a DELETE: ids that were chosen and locked before, as a table.
      const plain = sql.replace(/\((?:SELECT \d+ AS id(?: UNION ALL )?)+\)/, '(ids)');
      expect(plain).not.toMatch(/\bLIMIT\b|\bSELECT\b|\bIGNORE\b|DUPLICATE KEY/i);
    }
  });

  it('is text alone: no value is left to the client, whichever way it would write it', async () => {
    const { pool } = await open(database.url());
    const notes = watched(pool);
    await useAll(notes.pool);
    expect(notes.given.every((options) => !('values' in options))).toBe(true);
    for (const sql of notes.sent) expect(sql).toMatch(/^[\x20-\x3e\x40-\x7e\n]*$/); // ASCII, and no question mark
    for (const sql of notes.sent.filter((sql) => /LIMIT/.test(sql))) expect(sql).toMatch(/LIMIT \d+(?:\s|$)/);
  });
});

describe('a batch', () => {
  it('fits a server whose max_allowed_packet is a megabyte, whatever it is of, in few statements', async () => {
    const { pool } = await open(database.url());
    const notes = watched(pool);
    const driver = new MysqlDriver(notes.pool);
    const names = { name: '😀'.repeat(190), queue: '😀'.repeat(64) };
    const batches = [
      Array.from({ length: 1_200 }, (_, n) => aJob({ ...names, unique: `${n}-${'😀'.repeat(180)}` })),
      Array.from({ length: 1_000 }, () => aJob({ payload: { text: '"é'.repeat(500) } })),
      Array.from({ length: 30 }, () => aJob({ payload: { text: 'x'.repeat(65_000) } })),
    ];
    for (const jobs of batches) expect(new Set(await driver.pushMany(jobs)).size).toBe(jobs.length);
    const inserts = notes.sent.filter((sql) => /^\s*INSERT/.test(sql)).map((sql) => sql.length);
    expect(Math.max(...inserts)).toBeLessThan(1_040_000);
    expect(Math.min(...inserts.slice(0, 4))).toBeGreaterThan(500_000);
    expect(inserts.length).toBeLessThan(20);
  });
});

describe('the round trips', () => {
  async function trips(
    act: (driver: MysqlDriver) => Promise<unknown>,
    prepare?: (driver: MysqlDriver) => Promise<unknown>,
  ) {
    const { pool, clock } = await open(database.url());
    const notes = watched(pool);
    const driver = new MysqlDriver(notes.pool, { now: clock.now });
    await driver.reserve(['warm-up'], 60, 'w'); // the first asks for the version, and looks for stranded rows
    await prepare?.(driver);
    notes.sent.length = 0;
    const before = notes.checkOuts();
    await act(driver);
    return [notes.sent.length, notes.checkOuts() - before];
  }
  const hold = (driver: MysqlDriver) =>
    driver.pushMany([aJob(), aJob(), aJob(), aJob()]).then(() => driver.reserveMany(['default'], 3, 60, 'w'));
  const held = [1, 2, 3].map((id) => ({ id, attempts: 1, handle: '' }));
  const one = { id: 1, attempts: 1, handle: '' };

  it.each<[string, number, (driver: MysqlDriver) => Promise<unknown>]>([
    ['a push', 1, (driver) => driver.push(aJob({ unique: 'new' }))],
    ['a reserve', 6, (driver) => driver.reserve(['default'], 60, 'w')],
    ['a reserve that finds nothing in three queues', 6, (driver) => driver.reserve(['a', 'b', 'c'], 60, 'w')],
    ['a batch of claims in a queue with one priority', 7, (driver) => driver.reserveMany(['default'], 10, 60, 'w')],
    ['a delete', 1, (driver) => driver.delete(one)],
    ['a batch of deletes', 5, (driver) => driver.deleteMany(held)],
    ['a release', 1, (driver) => driver.release(one, 0, '')],
    ['a fail', 6, (driver) => driver.fail(one, 'no')],
    ['an extend', 5, (driver) => driver.extend(one, 60)],
    ['a batch of extends', 5, (driver) => driver.extendMany(held, 60)],
    ['a count', 2, (driver) => driver.pending('default')],
    ['the stats', 2, (driver) => driver.stats()],
    [
      'a push of 1,000 jobs, with its transaction',
      5,
      (driver) => driver.pushMany(Array.from({ length: 1_000 }, () => aJob())),
    ],
  ])('of %s are %i, on one connection', async (_, expected, act) => {
    expect(await trips(act, hold)).toStrictEqual([expected, 1]);
  });

  it('of a push whose key is held are four: the insert, the end of its locks, and the look at the holder', async () => {
    const act = (driver: MysqlDriver) => driver.push(aJob({ unique: 'k' }));
    expect(await trips(act, act)).toStrictEqual([4, 2]);
  });

  it('of a push and a delete within a transaction are two each, and no other connection is taken', async () => {
    const { pool, driver } = await open(database.url());
    const notes = watched(pool);
    // The cast: what the pool of `watched` gives.
    const connection = (await (notes.pool as mysql.Pool).getConnection()) as mysql.PoolConnection;
    await connection.beginTransaction();
    const before = notes.checkOuts();
    await driver.within(connection).push(aJob());
    await driver.within(connection).delete(one);
    expect([notes.sent.map(inShort), notes.checkOuts() - before]).toStrictEqual([
      ['DO 0', 'INSERT INTO `queue_jobs`', 'DO 0', 'DELETE FROM `queue_jobs`'],
      0,
    ]);
    await connection.rollback();
    connection.release();
  });
});

describe('the plan', () => {
  const RESERVE = 'idx_queue_jobs_reserve';

  async function fill(connection: mysql.Connection, rows: number): Promise<void> {
    await connection.query('TRUNCATE queue_jobs');
    const tuple = `('job', '{}', '', '${NOW}', '${NOW}')`;
    const insert = 'INSERT INTO queue_jobs (name, payload, last_error, available_at, created_at) VALUES ';
    await connection.query(insert + Array(rows).fill(tuple).join());
  }

  it.each([0, 1, 2, 4, 8, 20, 500])(
    'of the candidates is one range of the index, without a sort, in a table of %i rows, for one and for a thousand',
    async (rows) => {
      const { connection, texts } = await installed();
      await connection.query('TRUNCATE queue_jobs');
      await connection.query('ANALYZE TABLE queue_jobs');
      if (rows > 0) await fill(connection, rows);
      for (const analysed of [false, true]) {
        if (analysed) await connection.query('ANALYZE TABLE queue_jobs');
        for (const name of ['candidates', 'candidatesSkippingLocked', 'candidatesWaiting'] as const) {
          for (const limit of [1, 5, 1_000]) {
            const sql = render(texts[name], { ...VALUES, limit });
            expect(await explained(connection, sql), `${name} ${limit}`).toStrictEqual([`range ${RESERVE}`]);
          }
        }
      }
    },
  );

  it.each([0, 1, 4, 30])('of what acts on several ids goes by the primary key, in a table of %i rows', async (rows) => {
    const { connection, texts } = await installed();
    await connection.query('TRUNCATE queue_jobs');
    if (rows > 0) await fill(connection, rows);
    for (const ids of [
      [1, 2, 3],
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]) {
      const planned = async (name: StatementName) => {
        return explained(connection, render(texts[name], valuesFor(texts[name], ids)));
      };
      for (const name of ['lockClaims', 'claimLocked', 'extendLocked'] as const) {
        expect(await planned(name), name).toStrictEqual(['range PRIMARY']);
      }
      for (const name of ['deleteLocked', 'deleteInserted', 'deleteFailedPage'] as const) {
        expect(
          (await planned(name)).filter((access) => / PRIMARY/.test(access)),
          name,
        ).toStrictEqual(['eq_ref PRIMARY']);
      }
    }
  });
});
