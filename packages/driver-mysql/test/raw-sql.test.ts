import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aJob, open, rowsOf, useDatabase } from './fixtures.js';

const database = useDatabase();

/** The SQL that the documentation shows, in its order. */
const [simple = '', whole = '', trigger = '', larger = ''] = readFileSync(
  new URL('../README.md', import.meta.url),
  'utf8',
)
  .split('```sql\n')
  .slice(1)
  .map((text) => text.slice(0, text.indexOf('```')));

/** What SQL writes as UTC_TIMESTAMP() is the server's time. */
const now = () => new Date();

describe('a job queued by the SQL of the documentation', () => {
  it('runs, is released, and fails as one that was pushed', async () => {
    const { pool, driver } = await open(database.url(), { now });
    await pool.query(simple);
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job).toMatchObject({
      id: 1,
      queue: 'default',
      name: 'send-invoice',
      payload: { invoiceId: 42 },
      payloadJson: '{"invoiceId":42}',
      attempts: 1,
      maxAttempts: 3,
      reclaimed: false,
    });
    if (job === null) throw new Error('no job');
    expect(await driver.release(job, 0, 'no')).toBe(true);
    const again = await driver.reserve(['default'], 60, 'w');
    expect(again !== null && (await driver.fail(again, 'no'))).toBe(true);
    expect(await driver.failedRows(1)).toMatchObject([{ name: 'send-invoice', attempts: 2, error: 'no' }]);
  });

  it.each(['+00:00', '-08:00', '+05:45'])('is due when it is, in a session of the zone %s', async (zone) => {
    const { pool, driver } = await open(database.url(), { now });
    const connection = await pool.getConnection();
    await connection.query(`SET time_zone = '${zone}'`);
    await connection.query(simple);
    connection.destroy();
    expect(await driver.pending()).toBe(1);
  });

  it('waits for its delay, and holds its key: a second one is error 1062, and its transaction goes on', async () => {
    let aheadMs = 0;
    const { pool, driver } = await open(database.url(), { now: () => new Date(Date.now() + aheadMs) });
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query(whole);
    await expect(connection.query(whole)).rejects.toMatchObject({ errno: 1062 });
    await connection.commit();
    connection.release();
    expect(await driver.stats()).toStrictEqual([{ queue: 'mail', pending: 0, delayed: 1, reserved: 0, total: 1 }]);
    expect(await driver.push(aJob({ unique: 'invoice-42' }))).toBe(1);
    expect(await driver.reserve(['mail'], 60, 'w')).toBeNull();
    aheadMs = 62_000;
    expect(await driver.reserve(['mail'], 60, 'w')).toMatchObject({ id: 1, maxAttempts: 3 });
  });

  it('by a trigger is part of the transaction that fired it', async () => {
    const { pool, driver } = await open(database.url(), { now });
    await pool.query('CREATE TABLE invoices (id int AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB');
    await pool.query(trigger);
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query('INSERT INTO invoices () VALUES ()');
    await connection.rollback();
    connection.release();
    expect(await driver.pending()).toBe(0);
    await pool.query('INSERT INTO invoices () VALUES ()');
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ payload: { invoiceId: 2 } });
    await pool.query('DROP TABLE invoices');
  });
});

describe('the columns for larger payloads', () => {
  it('are those of the documentation', async () => {
    const { pool, driver } = await open(database.url(), { now, maxPayloadBytes: 1_000_000 });
    for (const statement of larger.split(';\n').filter(Boolean)) await pool.query(statement);
    const payload = { text: 'é'.repeat(400_000) };
    await driver.push(aJob({ payload }));
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job?.payload).toStrictEqual(payload);
    expect(job !== null && (await driver.fail(job, 'no'))).toBe(true);
    expect(await rowsOf(pool, 'SELECT octet_length(payload) FROM queue_failed_jobs')).toStrictEqual([['800011']]);
  });
});
