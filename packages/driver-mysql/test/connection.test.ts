import { isQueueError } from '@q/core';
import { startRelay } from '@q/servers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { FakePool } from './fake-pool.js';
import {
  aJob,
  aPool,
  count,
  emptyTables,
  isInTransaction,
  open,
  proxy,
  rowsOf,
  serverError,
  until,
  useDatabase,
} from './fixtures.js';

const database = useDatabase();
const quiet = { onWarning: () => {}, lookEveryMs: 0 } as const;
const never = () => new Promise<never>(() => {});
const COMMITTED = 'SET START INSERT COMMIT';

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );
}

describe('a connection of the pool', () => {
  it.each(['SET', 'START', 'ROLLBACK', 'COMMIT'])(
    'on which %s failed is destroyed, fifty times out of fifty',
    async (failing) => {
      const pool = new FakePool((word) => {
        if (word === failing) throw serverError(1105);
        if (word === 'INSERT' && failing === 'ROLLBACK') throw serverError(3819);
      });
      const driver = new MysqlDriver(pool, quiet);
      for (let round = 0; round < 50; round += 1) await refusalOf(driver.pushMany([aJob()]));
      // Each one that follows a broken one is tried first: DO 0.
      expect([pool.outstanding, pool.destroyed, pool.givenBack]).toStrictEqual([0, 50, 0]);
    },
  );

  it('is given back after a statement that the server refused, its transaction rolled back', async () => {
    const error = serverError(3819);
    const pool = new FakePool((word) => {
      if (word === 'INSERT') throw error;
    });
    const driver = new MysqlDriver(pool, quiet);
    for (let round = 0; round < 100; round += 1) {
      expect(await refusalOf(driver.pushMany([aJob()]))).toBe(error);
      expect(await refusalOf(driver.push(aJob()))).toBe(error);
    }
    expect([pool.outstanding, pool.destroyed, pool.givenBack]).toStrictEqual([0, 0, 200]);
    expect(pool.sent.slice(0, 6).join(' ')).toBe('SET START INSERT ROLLBACK INSERT ROLLBACK');
  });

  it.each([
    ['the node takes no writes (1290)', serverError(1290)],
    ['the node takes no writes (1792)', serverError(1792)],
    ['the node takes no writes (1836)', serverError(1836)],
    ['the node has lost its cluster (1047)', serverError(1047)],
    ['the server shuts down', serverError(1053)],
    ['the packet was too large', serverError(1153)],
    ['the connection was killed', serverError(1927)],
    ['the connection was idle for too long', serverError(4031)],
    ['the connection was lost', Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true })],
    ['the socket broke', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', errno: -104, fatal: true })],
    ['the client gave up by itself', new Error('Query inactivity timeout')],
  ])('is destroyed where %s, and the error passed on as it is', async (_, error) => {
    for (const act of [
      (driver: MysqlDriver) => driver.push(aJob()),
      (driver: MysqlDriver) => driver.pushMany([aJob()]),
    ]) {
      const pool = new FakePool((word) => (word === 'INSERT' ? Promise.reject(error) : undefined));
      expect(await refusalOf(act(new MysqlDriver(pool, quiet)))).toBe(error);
      expect([pool.outstanding, pool.destroyed, pool.sent.includes('ROLLBACK')]).toStrictEqual([0, 1, false]);
    }
  });

  it('whose next transaction was told its isolation is destroyed if that does not begin', async () => {
    const { pool, driver } = await open(database.url(), {
      pool: { connectionLimit: 1 },
      wrap: (real) =>
        proxy(real, {
          getConnection: async () => {
            const connection = await real.getConnection();
            const query = (options: { sql: string }) => {
              if (options.sql === 'START TRANSACTION') throw serverError(1317); // somebody said KILL QUERY
              return connection.query(options);
            };
            return proxy(connection, { query });
          },
        }),
    });
    expect(await refusalOf(driver.pushMany([aJob()]))).toMatchObject({ errno: 1317 });
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    // At READ COMMITTED a second read would see what was committed between the two.
    await connection.query('SELECT count(*) FROM queue_jobs');
    await new MysqlDriver(aPool(database.url()), quiet).push(aJob());
    expect(await count(connection)).toBe(0);
    await connection.rollback();
    connection.release();
  });

  it('that does not answer within callTimeout is destroyed, and the call rejects', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const pool = new FakePool(never);
      const refusal = refusalOf(new MysqlDriver(pool, { ...quiet, callTimeout: 5 }).reserve(['default'], 60, 'w'));
      await vi.advanceTimersByTimeAsync(4_999);
      expect(pool.outstanding).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      const error = await refusal;
      expect(isQueueError(error, 'call_timeout')).toBe(true);
      expect(String(error)).toContain('The server did not answer within 5 s (callTimeout)');
      expect([pool.outstanding, pool.destroyed]).toStrictEqual([0, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('that comes too late goes back to the pool, untouched', async () => {
    const { pool, driver } = await open(database.url(), { pool: { connectionLimit: 1 }, callTimeout: 1 });
    const held = await pool.getConnection();
    const error = await refusalOf(driver.push(aJob()));
    expect(String(error)).toContain('The pool gave no connection within 1 s (callTimeout): all are in use');
    held.release();
    expect(await driver.push(aJob())).toBe(1);
  });

  it('that went half-open costs one call; those like it are tried, for a second each, and the next call goes through', async () => {
    const relay = await startRelay(database.url());
    onTestFinished(() => relay.close());
    await emptyTables(database.url());
    const { pool, driver } = await open(relay.url, { tables: false, callTimeout: 7 });
    const connections = await Promise.all(Array.from({ length: 3 }, () => pool.getConnection()));
    for (const connection of connections) connection.release();
    relay.freeze();
    relay.thaw('new');
    expect(isQueueError(await refusalOf(driver.push(aJob())), 'call_timeout')).toBe(true);
    const start = performance.now();
    const id = await driver.push(aJob());
    const tookMs = performance.now() - start;
    expect([id > 0, tookMs > 1_900, tookMs < 7_000]).toStrictEqual([true, true, true]);
    // What became of the first is not known; here it never reached the server.
    expect(await driver.pending()).toBe(1);
  });
});

describe('a statement of the queue’s own', () => {
  it.each([1213, 1020])('that lost a race (%i) is sent again, ten times in all', async (errno) => {
    let failures = 0;
    const pool = new FakePool((word) => {
      if (word === 'INSERT' && failures++ < 9) throw serverError(errno);
    });
    expect(await new MysqlDriver(pool, quiet).push(aJob())).toBe(1);
    failures = 0;
    expect(await new MysqlDriver(pool, quiet).pushMany([aJob()])).toStrictEqual([1]);
    expect(pool.sent.slice(-4).join(' ')).toBe(COMMITTED);
    failures = -9;
    expect(await refusalOf(new MysqlDriver(pool, quiet).push(aJob()))).toMatchObject({ errno });
    expect([pool.destroyed, pool.outstanding]).toStrictEqual([0, 0]);
  });

  it('that has waited too long for a lock (1205) is not sent again: somebody has a transaction open, and has to know', async () => {
    const pool = new FakePool((word) => {
      if (word === 'INSERT') throw serverError(1205);
    });
    expect(await refusalOf(new MysqlDriver(pool, quiet).push(aJob()))).toMatchObject({ errno: 1205 });
    expect(pool.sent.join(' ')).toBe('INSERT ROLLBACK');
  });

  it('in a reserve that lost every race gives no job, and no error', async () => {
    const pool = new FakePool((word, sql) => {
      if (/priority/.test(sql) && word === 'SELECT') throw serverError(1213);
    });
    expect(await new MysqlDriver(pool, quiet).reserve(['default'], 60, 'w')).toBeNull();
    expect(pool.outstanding).toBe(0);
  });

  it('all go to one connection in one transaction, on a pool of one', async () => {
    const { pool, driver } = await open(database.url(), { pool: { connectionLimit: 1 } });
    await driver.pushMany([aJob(), aJob(), aJob()]);
    const answers = await Promise.all([
      driver.reserveMany(['default'], 2, 60, 'w'),
      driver.push(aJob()),
      driver.stats(),
      driver.reserve(['default'], 60, 'w'),
    ]);
    expect(answers[0].length + (answers[3] === null ? 0 : 1)).toBe(3);
    expect(await isInTransaction(pool)).toBe(false);
  });
});

describe('a driver', () => {
  it('that is closed refuses every call, and leaves the pool to the application', async () => {
    const { pool, driver } = await open(database.url());
    await driver.close();
    await driver.close();
    expect(isQueueError(await refusalOf(driver.push(aJob())), 'store_unavailable')).toBe(true);
    expect(isQueueError(await refusalOf(driver.onPush(['a'], () => {})), 'store_unavailable')).toBe(true);
    expect(await count(pool)).toBe(0);
  });

  it('says which tables are missing, within a transaction too', async () => {
    const { pool, driver } = await open(database.url(), {
      tables: false,
      table: 'nowhere',
      failedTable: 'nowhere_failed',
    });
    const message =
      'The tables "nowhere" and "nowhere_failed" are not there. Apply the migration that `q install` writes';
    expect(String(await refusalOf(driver.push(aJob())))).toContain(message);
    expect(String(await refusalOf(driver.reserve(['a'], 60, 'w')))).toContain(message);
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    expect(String(await refusalOf(driver.within(connection).push(aJob())))).toContain(message);
    await connection.rollback();
    connection.release();
  });

  it('says that the index is missing which its claims go by', async () => {
    const { pool, driver } = await open(database.url(), { tables: false, table: 'bare', failedTable: 'bare_failed' });
    await driver.createTables();
    await pool.query('ALTER TABLE bare DROP INDEX idx_bare_reserve');
    await driver.push(aJob());
    const error = await refusalOf(driver.reserve(['default'], 60, 'w'));
    expect(isQueueError(error, 'store_unavailable')).toBe(true);
    expect(String(error)).toContain('without its index idx_<table>_reserve');
  });

  it('rejects with mysql2’s own error where nobody answers at the address', async () => {
    const pool = aPool('mysql://root@127.0.0.1:1/none');
    expect(await refusalOf(new MysqlDriver(pool, quiet).push(aJob()))).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each([null, undefined, {}, 'mysql://', { query: () => {} }, { query: () => {}, getConnection: () => {} }])(
    'is not built on what is no pool (%s)',
    (value) => {
      // The cast: a caller without a type checker.
      expect(() => new MysqlDriver(value as never)).toThrow('MysqlDriver needs a pool of mysql2');
    },
  );

  it.each([[{ lookEveryMs: 1.5 }], [{ lookEveryMs: '50' }], [{ table: 'a', failedTable: 'A' }], [null]])(
    'is not built with options that are wrong: %j',
    (options) => {
      // The cast: a caller without a type checker.
      expect(() => new MysqlDriver(aPool(database.url()), options as never)).toThrow(
        expect.objectContaining({ name: 'QueueError' }),
      );
    },
  );

  it('that is killed in the middle of a batch has stored none of it', async () => {
    const { pool, driver } = await open(database.url());
    const { pool: root } = await open(database.url(), { tables: false });
    const pushing = refusalOf(driver.pushMany(Array.from({ length: 20_000 }, (_, n) => aJob({ unique: `k${n}` }))));
    await until('it is under way', async () => {
      const rows = await rowsOf(root, 'SHOW PROCESSLIST');
      const found = rows.find((row) => row.some((cell) => cell?.trimStart().startsWith('INSERT') ?? false));
      if (found === undefined) return false;
      await root.query(`KILL ${found[0]}`);
      return true;
    });
    expect(isQueueError(await pushing)).toBe(false);
    expect(await count(pool)).toBe(0);
    expect(await driver.push(aJob())).toBeGreaterThan(0);
  });
});
