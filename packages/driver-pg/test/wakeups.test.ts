import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PgDriver } from '../src/index.js';
import { aJob, open, until, useDatabase, watched } from './fixtures.js';

const database = useDatabase();

/** What arrives on the channel, as anybody would hear it. */
async function announcements(): Promise<string[]> {
  const heard: string[] = [];
  const client = new pg.Client(database.url());
  client.on('notification', ({ payload = '' }) => heard.push(payload));
  await client.connect();
  await client.query('LISTEN queue_jobs');
  onTestFinished(() => client.end());
  return heard;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a push', () => {
  it('is announced with its commit, in a transaction of the application’s too, and one rolled back is not', async () => {
    const { pool, driver } = await open(database.url());
    const heard = await announcements();
    const client = await pool.connect();
    await client.query('BEGIN');
    await driver.within(client).push(aJob({ queue: 'mail' }));
    await driver.within(client).push(aJob({ queue: 'mail' }));
    await driver.within(client).pushMany([aJob({ queue: 'a' }), aJob({ queue: 'b' })]);
    await pause(50);
    expect(heard).toStrictEqual([]);
    await client.query('COMMIT');
    await until('it is announced', () => heard.length === 3);
    expect(heard).toStrictEqual(['mail', 'a', 'b']);
    await client.query('BEGIN');
    await driver.within(client).push(aJob({ queue: 'never' }));
    await client.query('ROLLBACK');
    client.release();
    await driver.push(aJob({ queue: 'last' }));
    await until('it is announced', () => heard.length === 4);
    expect(heard[3]).toBe('last');
  });

  it('that finds its key held is not announced', async () => {
    const { driver } = await open(database.url());
    const heard = await announcements();
    for (let n = 0; n < 3; n += 1) await driver.push(aJob({ unique: 'k' }));
    await driver.pushMany([aJob({ unique: 'k' })]);
    await pause(60);
    await driver.push(aJob({ queue: 'last' }));
    await until('the last is announced', () => heard.includes('last'));
    expect(heard).toStrictEqual(['default', 'last']);
  });

  it('is announced once for each queue and 20 ms, the last ones after their commit', async () => {
    const { driver } = await open(database.url());
    const heard = await announcements();
    const start = performance.now();
    await Promise.all(Array.from({ length: 200 }, (_, n) => driver.push(aJob({ queue: n % 2 ? 'a' : 'b' }))));
    await driver.push(aJob({ queue: 'c' }));
    await driver.push(aJob({ queue: 'c' }));
    await until('both are announced', () => heard.filter((queue) => queue === 'c').length === 2);
    const most = Math.ceil((performance.now() - start) / 20) * 2;
    const others = heard.filter((queue) => queue !== 'c');
    expect(new Set(others)).toStrictEqual(new Set(['a', 'b']));
    expect(others.length).toBeLessThanOrEqual(most);
  });

  it.each([
    [true, ['WITH stored AS', 'WITH stored AS']],
    ['outside-transactions', ['WITH stored AS', 'INSERT INTO "queue_jobs"']],
    [false, ['INSERT INTO "queue_jobs"', 'INSERT INTO "queue_jobs"']],
  ] as const)(
    'carries its announcement where notify is %s, plain and within a transaction',
    async (notify, expected) => {
      const { pool } = await open(database.url());
      const notes = watched(pool);
      const driver = new PgDriver(notes.pool, { notify });
      await driver.push(aJob({ queue: 'a' }));
      const client = await notes.pool.connect();
      await client.query('BEGIN');
      await driver.within(client).push(aJob({ queue: 'b' }));
      await client.query('ROLLBACK');
      client.release();
      expect(notes.sent.filter((text) => !/BEGIN|ROLLBACK/.test(text))).toStrictEqual(expected);
      await driver.close();
    },
  );

  it('by psql, a trigger or another language wakes a worker by the NOTIFY of the documentation', async () => {
    const { pool, driver } = await open(database.url());
    const woken: string[] = [];
    await driver.onPush(['mail'], () => woken.push('mail'));
    await driver.onPush(['other'], () => woken.push('other'));
    woken.length = 0;
    await pool.query("SELECT pg_notify('queue_jobs', 'mail')");
    await until('woken', () => woken.length > 0);
    expect(woken).toStrictEqual(['mail']);
    await pool.query('NOTIFY queue_jobs');
    await until('woken', () => woken.length > 2);
    expect(woken.slice(1).toSorted()).toStrictEqual(['mail', 'other']);
  });
});

describe('a channel', () => {
  it('with a name that Postgres would refuse is named by a digest', async () => {
    const { pool } = await open(database.url(), { tables: false });
    const schema = `s${'x'.repeat(47)}`;
    await pool.query(`CREATE SCHEMA ${schema}`);
    const names = { table: `${schema}.${'t'.repeat(48)}`, failedTable: `${schema}.f` };
    const driver = new PgDriver(pool, names);
    await driver.createTables();
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    woken = 0;
    await new PgDriver(pool, names).push(aJob());
    await until('woken', () => woken > 0);
    await driver.close();
  });
});
