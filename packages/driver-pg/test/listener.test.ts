import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { PgDriver } from '../src/index.js';
import { FakePool } from './fake-pool.js';
import { aJob, aPool, open, until, useDatabase } from './fixtures.js';

const database = useDatabase();

async function listening(pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (query ILIKE '%LISTEN "queue_jobs"%' OR query LIKE '%pg_listening_channels%') ORDER BY pid`,
  );
  return rows.map(({ pid }) => pid);
}

describe('the connection that listens', () => {
  it('is there while somebody wants to know, one for all, and not one of the pool', async () => {
    const { pool, driver } = await open(database.url());
    expect(await listening(pool)).toStrictEqual([]);
    const first = await driver.onPush(['a'], () => {});
    const second = await driver.onPush(['b'], () => {});
    expect((await listening(pool)).length).toBe(1);
    expect(pool.totalCount).toBe(1);
    await first[Symbol.asyncDispose]();
    expect((await listening(pool)).length).toBe(1);
    await second[Symbol.asyncDispose]();
    await until('it is gone', async () => (await listening(pool)).length === 0);
    await driver.onPush(['a'], () => {});
    expect((await listening(pool)).length).toBe(1);
    await driver.close();
    await until('it is gone', async () => (await listening(pool)).length === 0);
  });

  it('is made anew when it is lost, listens again and wakes everybody once, five times over', async () => {
    const { pool, driver } = await open(database.url());
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    for (let round = 0; round < 5; round += 1) {
      const [pid] = await listening(pool);
      woken = 0;
      await pool.query('SELECT pg_terminate_backend($1)', [pid]);
      const tookMs = await until('woken by listening again', () => woken > 0);
      expect(tookMs).toBeLessThan(2_000);
      const now = await listening(pool);
      expect([now.length, now[0] === pid, woken]).toStrictEqual([1, false, 1]);
    }
    await pool.query("SELECT pg_notify('queue_jobs', 'default')");
    await until('woken by a push', () => woken > 1);
    expect(pool.errors).toStrictEqual([]);
  });

  it('is made anew when the session has forgotten that it listens', async () => {
    const clients: pg.Client[] = [];
    class Client extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super(config);
        clients.push(this);
      }
    }
    // The cast: pg's type of this option takes no class with arguments.
    const { pool, driver } = await open(database.url(), { pool: { Client: Client as never } });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    woken = 0;
    await clients.at(-1)?.query('UNLISTEN *');
    await until('woken by listening again', () => woken > 0, 10_000);
    await until('one session', async () => (await listening(pool)).length === 1);
  });

  it('is given up behind a pooler, with a warning, and a direct connection may be named instead', async () => {
    class Pooled extends pg.Client {
      // What a pooler announces is not the process that serves.
      get processID(): number {
        return 1;
      }
      set processID(_: number) {}
    }
    const config = { pool: { Client: Pooled as never } };
    const { pool, driver, warnings } = await open(database.url(), config);
    await driver.onPush(['default'], () => {});
    expect(warnings.map(({ code }) => code)).toStrictEqual(['listen_unavailable']);
    expect(warnings[0]?.message).toContain('notifications are unavailable, so workers find jobs by polling');
    await until('no session listens', async () => (await listening(pool)).length === 0);
    await driver.close();
  });

  it('is opened by what the option listen says', async () => {
    const { pool, warnings } = await open(database.url());
    const nowhere = aPool({ host: '127.0.0.1', port: 1 });
    for (const listen of [database.url(), { connectionString: database.url(), application_name: 'listener' }]) {
      const driver = new PgDriver(nowhere, { listen });
      let woken = 0;
      await driver.onPush(['default'], () => {
        woken += 1;
      });
      expect((await listening(pool)).length).toBe(1);
      woken = 0;
      await pool.query("SELECT pg_notify('queue_jobs', 'default')");
      await until('woken', () => woken === 1);
      await driver.close();
      await until('it is gone', async () => (await listening(pool)).length === 0);
    }
    expect(warnings).toStrictEqual([]);
  });

  it('is not there where listen is false; pushes by the same driver wake all the same', async () => {
    const { pool, driver, warnings } = await open(database.url(), { listen: false });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    expect([await listening(pool), woken]).toStrictEqual([[], 0]);
    await driver.push(aJob());
    await until('woken', () => woken === 1);
    expect(warnings).toStrictEqual([]);
  });

  it('is not there, with a warning, where the pool does not say how it opens its clients', async () => {
    const warnings: string[] = [];
    const driver = new PgDriver(new FakePool(() => ({})), { onWarning: ({ code }) => warnings.push(code) });
    await using _ = await driver.onPush(['default'], () => {});
    expect(warnings).toStrictEqual(['listen_unavailable']);
  });

  it('that cannot be made yet keeps nobody waiting, and is closed at once', async () => {
    const driver = new PgDriver(aPool({ connectionString: inject('postgres') }), {
      listen: { host: '127.0.0.1', port: 1 },
    });
    const subscription = await driver.onPush(['default'], () => {});
    const start = performance.now();
    await subscription[Symbol.asyncDispose]();
    await driver.close();
    expect(performance.now() - start).toBeLessThan(500);
  });
});
