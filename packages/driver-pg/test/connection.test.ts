import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { isQueueError } from '@q/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PgDriver } from '../src/index.js';
import { FakePool, serverError } from './fake-pool.js';
import { aJob, aPool, count, open, useDatabase } from './fixtures.js';

const database = useDatabase();
const quiet = { onWarning: () => {}, notify: false } as const;
const never = () => new Promise<never>(() => {});

async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error,
  );
}

/** A way to the server on which its welcome and its farewell come in one piece. */
async function hastyRelay(url: string): Promise<string> {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');
  const farewell = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), fields]);
  farewell.writeInt32BE(fields.length + 4, 1);
  const { hostname, port } = new URL(url);
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.on('error', () => {}).on('close', () => far.destroy());
    far.on('error', () => {});
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => {
      const isWelcome = data.at(-6) === 'Z'.charCodeAt(0);
      if (!isWelcome) near.write(data);
      else near.end(Buffer.concat([data, farewell]));
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  onTestFinished(() => void relay.close());
  const way = new URL(url);
  way.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`; // the cast: it listens on a port
  return way.href;
}

describe('a connection of the pool', () => {
  it('that the server ends right behind its welcome costs the call, and not the process', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', note);
    onTestFinished(() => {
      process.removeListener('uncaughtException', note);
      for (const other of others) process.on('uncaughtException', other);
    });
    const pool = aPool({ connectionString: await hastyRelay(database.url()), max: 1 });
    const driver = new PgDriver(pool, { ...quiet, callTimeout: 5 });
    for (let round = 0; round < 5; round += 1) await expect(driver.pending()).rejects.toThrow();
    expect(uncaught).toStrictEqual([]);
  });

  it.each(['BEGIN', 'ROLLBACK', 'COMMIT'])(
    'on which %s failed is destroyed, fifty times out of fifty',
    async (failing) => {
      const pool = new FakePool((word) => {
        if (word === failing) throw serverError('XX000');
        if (word === 'INSERT' && failing === 'ROLLBACK') throw serverError('23514');
        return { rows: [{ id: '1', unique_key: null }] };
      });
      const driver = new PgDriver(pool, quiet);
      for (let round = 0; round < 50; round += 1) await refusalOf(driver.pushMany([aJob()]));
      expect([pool.outstanding, pool.destroyed, pool.givenBack]).toStrictEqual([0, 50, 0]);
    },
  );

  it('is given back after a statement that the server refused, its transaction rolled back', async () => {
    const error = serverError('23514');
    const pool = new FakePool((word) => {
      if (word === 'INSERT') throw error;
      return {};
    });
    const driver = new PgDriver(pool, quiet);
    for (let round = 0; round < 100; round += 1) {
      expect(await refusalOf(driver.pushMany([aJob()]))).toBe(error);
      expect(await refusalOf(driver.push(aJob()))).toBe(error);
    }
    expect([pool.outstanding, pool.destroyed, pool.givenBack, pool.leftBehind]).toStrictEqual([0, 0, 200, 0]);
    expect(pool.sent.slice(0, 4)).toStrictEqual(['BEGIN', 'INSERT', 'ROLLBACK', 'INSERT']);
  });

  it.each([
    ['the node takes no writes', serverError('25006')],
    ['the server goes away', serverError('57P01')],
    ['the connection was lost', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['the client gave up by itself', new Error('Query read timeout')],
  ])('is destroyed where %s, and the error passed on as it is', async (_, error) => {
    const pool = new FakePool(() => Promise.reject(error));
    expect(await refusalOf(new PgDriver(pool, quiet).push(aJob()))).toBe(error);
    expect([pool.outstanding, pool.destroyed]).toStrictEqual([0, 1]);
  });

  it('that does not answer within callTimeout is destroyed, and the call rejects', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const pool = new FakePool(never);
      const refusal = refusalOf(new PgDriver(pool, { ...quiet, callTimeout: 5 }).reserve(['default'], 60, 'w'));
      await vi.advanceTimersByTimeAsync(4_999);
      expect(pool.outstanding).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      const error = await refusal;
      expect(isQueueError(error, 'call_timeout')).toBe(true);
      expect(String(error)).toContain('Postgres did not answer within 5 s (callTimeout)');
      expect([pool.outstanding, pool.destroyed]).toStrictEqual([0, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('whose answer came while the event loop was blocked has answered in time', async () => {
    const { driver } = await open(database.url(), { callTimeout: 1 });
    await driver.pending();
    const call = driver.push(aJob());
    // So that the statement is sent, and its answer waits to be read.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise((resolve) => setImmediate(resolve));
    const end = performance.now() + 1_200;
    while (performance.now() < end);
    expect(await call).toBe(1);
  });

  it('that comes too late goes back to the pool, untouched', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 1 }, callTimeout: 1 });
    const held = await pool.connect();
    const error = await refusalOf(driver.push(aJob()));
    expect(String(error)).toContain('The pool gave no connection within 1 s (callTimeout): all are in use');
    held.release();
    expect(await driver.push(aJob())).toBe(1);
    expect([pool.totalCount, pool.idleCount]).toStrictEqual([1, 1]);
  });

  it('has a listener for errors while it is in our hands, and none of ours afterwards', async () => {
    const { pool, driver } = await open(database.url());
    const before: number[] = [];
    pool.on('acquire', (client) => setImmediate(() => before.push(client.listenerCount('error'))));
    await driver.push(aJob());
    await driver.pushMany([aJob()]);
    await driver.reserve(['default'], 60, 'w');
    expect(Math.min(...before)).toBeGreaterThan(0);
    const client = await pool.connect();
    expect(client.listenerCount('error')).toBe(0);
    client.release();
    expect(pool.listenerCount('error')).toBe(1); // the one of this test
  });

  it('is left in no transaction and with no setting changed', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 1 } });
    const settings = async () => {
      const { rows } = await pool.query("SELECT name, setting FROM pg_settings WHERE name <> 'transaction_isolation'");
      return JSON.stringify(rows);
    };
    const before = await settings();
    await driver.pushMany([aJob({ unique: 'k' }), aJob()]);
    await refusalOf(driver.push(aJob({ name: '' })));
    await driver.reserveMany(['default'], 5, 60, 'w');
    await driver.stats();
    const { rows } = await pool.query("SELECT count(*)::int AS n FROM pg_stat_activity WHERE state LIKE 'idle in%'");
    expect([await settings(), rows[0]?.n]).toStrictEqual([before, 0]);
    expect((await pool.query('SELECT count(*)::int AS n FROM pg_prepared_statements')).rows[0]?.n).toBe(0);
  });
});

describe('the idle connections of the pool', () => {
  it('are tried after one was lost: the dead and the read-only are destroyed, the others stay', async () => {
    const { pool, driver } = await open(database.url(), { pool: { max: 4 } });
    const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect(), pool.connect()]);
    for (const client of clients.slice(1, 3)) await client.query('SET default_transaction_read_only = on');
    const failing = clients[3];
    await failing?.query('SET default_transaction_read_only = on');
    for (const client of clients) client.release();
    expect(await refusalOf(driver.push(aJob()))).toMatchObject({ code: '25006' });
    expect(await driver.push(aJob())).toBe(1);
    expect(pool.totalCount).toBe(1);
  });
});

describe('a statement of the queue’s own', () => {
  it.each(['40001', '40P01'])('that lost a race (%s) is sent again, five times in all', async (code) => {
    let failures = 0;
    const pool = new FakePool((word) => {
      if (word !== 'INSERT') return {};
      failures += 1;
      if (failures < 5) throw serverError(code);
      return { rows: [{ id: '1', unique_key: null }] };
    });
    expect(await new PgDriver(pool, quiet).push(aJob())).toBe(1);
    failures = -5;
    expect(await refusalOf(new PgDriver(pool, quiet).push(aJob()))).toMatchObject({ code });
    failures = 0;
    expect(await new PgDriver(pool, quiet).pushMany([aJob()])).toStrictEqual([1]);
    expect(pool.destroyed).toBe(0);
  });

  it('is sent at READ COMMITTED from the first serialization failure on', async () => {
    let failures = 0;
    const pool = new FakePool((word) => {
      if (word === 'INSERT' && failures++ === 0) throw serverError('40001');
      return { rows: [{ id: '1', unique_key: null }] };
    });
    const driver = new PgDriver(pool, quiet);
    await driver.push(aJob());
    await driver.push(aJob());
    const again = ['BEGIN', 'INSERT', 'COMMIT'];
    expect(pool.sent).toStrictEqual(['INSERT', ...again, ...again]);
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
    const client = await pool.connect();
    await client.query('BEGIN');
    expect(String(await refusalOf(driver.within(client).push(aJob())))).toContain(message);
    await client.query('ROLLBACK');
    client.release();
  });

  it('warns once of a pool without a listener for errors', async () => {
    const { warnings, driver, pool } = await open(database.url());
    await driver.push(aJob());
    expect(warnings).toStrictEqual([]);
    pool.removeAllListeners('error');
    await driver.push(aJob());
    await driver.push(aJob());
    expect(warnings.map(({ code }) => code)).toStrictEqual(['pool_without_error_listener']);
  });

  it('rejects with pg’s own error where nobody answers at the address', async () => {
    const pool = aPool({ host: '127.0.0.1', port: 1 });
    expect(await refusalOf(new PgDriver(pool, quiet).push(aJob()))).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each([null, undefined, {}, 'postgres://', { query: () => {} }])(
    'is not built on what is no pool (%s)',
    (value) => {
      // The cast: a caller without a type checker.
      expect(() => new PgDriver(value as never)).toThrow('PgDriver needs a Pool of pg');
    },
  );
});
