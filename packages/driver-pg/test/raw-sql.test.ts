import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { open, until, useDatabase } from './fixtures.js';

const database = useDatabase();

/** The SQL that the documentation shows, in its order. */
const [simple = '', whole = '', notify = '', trigger = ''] = readFileSync(
  new URL('../README.md', import.meta.url),
  'utf8',
)
  .split('```sql\n')
  .slice(1)
  .map((text) => text.slice(0, text.indexOf('```')));

/** What SQL writes as now() is the server's time. */
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

  it('waits for its delay, and holds its key', async () => {
    let ahead = 0;
    const { pool, driver } = await open(database.url(), { now: () => new Date(Date.now() + ahead) });
    await pool.query(whole);
    await pool.query(whole);
    expect(await driver.stats()).toStrictEqual([{ queue: 'mail', pending: 0, delayed: 1, reserved: 0, total: 1 }]);
    expect(await driver.push({ ...JOB, unique: 'invoice-42' })).toBe(1);
    expect(await driver.reserve(['mail'], 60, 'w')).toBeNull();
    ahead = 62_000;
    expect(await driver.reserve(['mail'], 60, 'w')).toMatchObject({ id: 1, maxAttempts: 3 });
  });

  it('wakes a worker by the NOTIFY of the documentation', async () => {
    const { pool, driver } = await open(database.url(), { now });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    woken = 0;
    await pool.query(notify);
    await until('woken', () => woken === 1);
  });

  it('by a trigger is part of the transaction that fired it, its wakeup too', async () => {
    const { pool, driver } = await open(database.url(), { now });
    await pool.query('CREATE TABLE invoices (id bigserial PRIMARY KEY)');
    await pool.query(trigger);
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    woken = 0;
    await pool.query('BEGIN; INSERT INTO invoices DEFAULT VALUES; ROLLBACK');
    expect(await driver.pending()).toBe(0);
    await pool.query('INSERT INTO invoices DEFAULT VALUES');
    await until('woken', () => woken === 1);
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ payload: { invoiceId: 2 } });
  });
});

const JOB = { name: 'x', payload: {}, delay: 0, queue: 'mail', priority: 0, maxAttempts: 3 };
