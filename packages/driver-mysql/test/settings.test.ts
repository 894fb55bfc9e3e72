import mysql from 'mysql2';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { aJob, count, emptyTables, isInTransaction, open, rowsOf, useDatabase } from './fixtures.js';
import { HOSTILE_POOLS } from './pools.js';
import { useAll } from './use-all.js';

const database = useDatabase();

/** A pool with callbacks, ended with the test, that does something to each connection it opens. */
function aCallbackPool(options: mysql.PoolOptions = {}, onConnection: readonly string[] = []): mysql.Pool {
  const pool = mysql.createPool({ uri: database.url(), connectionLimit: 6, ...options });
  pool.on('connection', (connection) => {
    for (const statement of onConnection) connection.query(statement);
  });
  onTestFinished(() => pool.promise().end());
  return pool;
}

describe('a driver does all it does', () => {
  it.each([
    ['with callbacks', (pool: mysql.Pool) => pool],
    ['with promises', (pool: mysql.Pool) => pool.promise()],
  ])('on a pool %s', async (_, flavour) => {
    await emptyTables(database.url());
    await useAll(flavour(aCallbackPool()));
  });

  it.each(Object.entries(HOSTILE_POOLS))(
    'on a pool with %s',
    async (_, { pool, wrap = (one) => one, onConnection }) => {
      await emptyTables(database.url());
      await useAll(wrap(aCallbackPool(pool, onConnection)));
    },
  );

  it.each([
    ['timezone local', { timezone: 'local' }],
    ['dateStrings', { dateStrings: true }],
    ['dateStrings of one type', { dateStrings: ['DATETIME'] }],
    ['rowsAsArray', { rowsAsArray: true }],
    ['namedPlaceholders', { namedPlaceholders: true }],
    ['supportBigNumbers', { supportBigNumbers: true }],
    ['bigNumberStrings', { supportBigNumbers: true, bigNumberStrings: true }],
    ['jsonStrings', { jsonStrings: true }],
    ['decimalNumbers', { decimalNumbers: true }],
    ['a typeCast', { typeCast: () => null }],
    ['typeCast false', { typeCast: false }],
    ['-FOUND_ROWS', { flags: ['-FOUND_ROWS'] }],
    ['multipleStatements', { multipleStatements: true }],
    ['compress', { compress: true }],
    ['charset latin1', { charset: 'latin1_swedish_ci' }],
    ['charset gbk', { charset: 'gbk_chinese_ci' }],
    ['charset utf8mb3', { charset: 'utf8_general_ci' }],
    ['resetOnRelease', { resetOnRelease: true }],
  ] satisfies [string, mysql.PoolOptions][])('on a pool with %s', async (_, options) => {
    await emptyTables(database.url());
    await useAll(aCallbackPool(options));
  });

  it.each([
    "SET sql_mode = ''",
    "SET sql_mode = 'TRADITIONAL'",
    "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "SET sql_mode = 'ANSI_QUOTES'",
    // What MariaDB alone has is in comments that it alone reads.
    "SET sql_mode = 'ANSI' /*M!, sql_mode = 'ANSI,ORACLE' */",
    'SET autocommit = 0',
    'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
    'SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED',
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    "SET time_zone = 'SYSTEM'",
    "SET time_zone = '+13:00'",
    "SET time_zone = '-08:00'",
    'SET NAMES latin1',
    "SET lc_messages = 'de_DE'",
    'SET sql_select_limit = 1',
    'SET auto_increment_increment = 7',
    'SET @plain = 1 /*M!, innodb_snapshot_isolation = 1 */',
    'SET SESSION TRANSACTION READ WRITE',
    "SET completion_type = 'CHAIN'",
    'SET timestamp = 1',
    'SET foreign_key_checks = 0, unique_checks = 1',
  ])('on connections with %s', async (statement) => {
    await emptyTables(database.url());
    const step = /increment = 7/.test(statement);
    const pool = aCallbackPool({}, [statement]);
    if (step) expect(await new MysqlDriver(pool).pushMany([aJob(), aJob(), aJob()])).toStrictEqual([1, 8, 15]);
    else await useAll(pool);
  });
});

describe('the application’s connections', () => {
  const SETTINGS = `SHOW SESSION VARIABLES WHERE variable_name NOT IN ('timestamp', 'rand_seed1', 'rand_seed2', 'pseudo_thread_id',
    'last_insert_id', 'insert_id', 'identity', 'error_count', 'warning_count', 'gtid_current_pos', 'last_gtid',
    'statement_id')`;

  it('keep every setting that they had, and no transaction is left open on them', async () => {
    const { pool, driver } = await open(database.url(), { pool: { connectionLimit: 1 } });
    const before = JSON.stringify(await rowsOf(pool, SETTINGS));
    await useAll(pool);
    await driver.push(aJob({ unique: 'k' }));
    await driver.push(aJob({ unique: 'k' }));
    await driver.push(aJob({ name: '' })).catch(() => {});
    expect(JSON.stringify(await rowsOf(pool, SETTINGS))).toBe(before);
    expect(await isInTransaction(pool)).toBe(false);
    await pool.query('START TRANSACTION'); // would commit one that was open; and its isolation is the application's
    const isolation = "SHOW VARIABLES WHERE variable_name IN ('tx_isolation', 'transaction_isolation')";
    expect((await rowsOf(pool, isolation))[0]?.[1]).toBe('REPEATABLE-READ');
    await pool.query('ROLLBACK');
  });

  it.each(['push', 'pushMany', 'pending', 'reserve', 'delete', 'release', 'extend', 'fail', 'createTables'] as const)(
    'that come with a forgotten transaction lose it, and %s is no part of it',
    async (method) => {
      const { pool, driver } = await open(database.url(), { pool: { connectionLimit: 1 } });
      await pool.query('CREATE TABLE IF NOT EXISTS notes (id int AUTO_INCREMENT PRIMARY KEY, text text) ENGINE=InnoDB');
      await driver.pushMany([aJob(), aJob()]);
      const claim = await driver.reserve(['default'], 60, 'w');
      if (claim === null) throw new Error('no job');
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      await connection.query('SELECT count(*) FROM queue_jobs'); // so that it has a snapshot
      await connection.query("INSERT INTO notes (text) VALUES ('of a request that failed')");
      connection.release(); // and never rolled back
      const act: Record<typeof method, () => Promise<unknown>> = {
        push: () => driver.push(aJob()),
        pushMany: () => driver.pushMany([aJob()]),
        pending: () => driver.pending(),
        reserve: () => driver.reserve(['default'], 60, 'w'),
        delete: () => driver.delete(claim),
        release: () => driver.release(claim, 0, ''),
        extend: () => driver.extend(claim, 60),
        fail: () => driver.fail(claim, ''),
        createTables: () => driver.createTables(),
      };
      const answer = await act[method]();
      expect(answer).not.toBe(false);
      const expected = { push: 3, pushMany: 3, delete: 1, fail: 1 }[method as string] ?? 2;
      await pool.query('ROLLBACK'); // what was not committed is gone now
      expect([await count(pool), await count(pool, 'notes')]).toStrictEqual([expected, 0]);
    },
  );
});

describe.each(['CHAIN', 'RELEASE'])('where completion_type is %s', (type) => {
  it('the end of a transaction of the queue’s begins no other, and ends no connection', async () => {
    const { pool, driver } = await open(database.url(), { pool: { connectionLimit: 1 } });
    pool.on('connection', (connection) => connection.query(`SET completion_type = '${type}'`));
    const state = async () => [await isInTransaction(pool), await rowsOf(pool, 'SELECT connection_id()')];
    const before = await state();
    await driver.pushMany([aJob(), aJob()]);
    expect(await driver.pending()).toBe(2);
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job !== null && (await driver.fail(job, 'no'))).toBe(true);
    expect([await driver.push(aJob()), await count(pool)]).toStrictEqual([3, 2]);
    expect(await state()).toStrictEqual(before);
  });
});

describe('the number of rows that a statement has changed', () => {
  it.each([[['-FOUND_ROWS']], [['FOUND_ROWS']]])(
    'is what the driver needs it to be, with the flags %j',
    async (flags) => {
      const { driver } = await open(database.url(), { pool: { flags } });
      await driver.push(aJob());
      const job = await driver.reserve(['default'], 60, 'w');
      if (job === null) throw new Error('no job');
      for (let round = 0; round < 3; round += 1) expect(await driver.extend(job, 60)).toBe(true);
      expect(await driver.extendMany([job], 60)).toStrictEqual([]);
      // Everything but the claim is as it was before.
      expect(await driver.release(job, 0, '')).toBe(true);
      expect(await driver.release(job, 0, '')).toBe(false);
      expect(await driver.extend(job, 60)).toBe(false);
    },
  );
});
