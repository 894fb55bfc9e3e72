import { describe, expect, it } from 'vitest';
import { open } from './fixtures.js';

/** The exact statement by which a trigger, `sqlite3` or another language queues a job: the columns without a default. */
const INSERT = `
  INSERT INTO queue_jobs (name, payload, available_at, created_at)
  VALUES ('send-invoice', '{"invoiceId":42}', datetime('now'), datetime('now'))`;

/** What SQL writes as datetime('now') is the real time. */
const now = () => new Date();

describe('a job queued by SQL alone', () => {
  it('runs, is released, and fails as one that was pushed', async () => {
    const { db, driver } = await open({ now });
    db.exec(INSERT);
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job).toMatchObject({
      queue: 'default',
      name: 'send-invoice',
      attempts: 1,
      maxAttempts: 3,
      reclaimed: false,
    });
    expect(job?.payload).toStrictEqual({ invoiceId: 42 });
    if (job === null) throw new Error('no job');
    expect(await driver.release(job, 0, 'no')).toBe(true);
    const again = await driver.reserve(['default'], 60, 'w');
    expect(again !== null && (await driver.fail(again, 'no'))).toBe(true);
    expect(await driver.failedRows(1)).toMatchObject([{ name: 'send-invoice', attempts: 2, error: 'no' }]);
  });

  it('by a trigger is part of the transaction that fired it', async () => {
    const { db, driver } = await open({ now });
    db.exec(`
      CREATE TABLE invoices (id INTEGER PRIMARY KEY);
      CREATE TRIGGER queue_invoice AFTER INSERT ON invoices BEGIN
        INSERT INTO queue_jobs (name, payload, available_at, created_at)
        VALUES ('send-invoice', json_object('invoiceId', NEW.id), datetime('now'), datetime('now'));
      END`);
    db.exec('BEGIN; INSERT INTO invoices DEFAULT VALUES; ROLLBACK');
    expect(await driver.pending()).toBe(0);
    db.exec('INSERT INTO invoices DEFAULT VALUES');
    expect((await driver.reserve(['default'], 60, 'w'))?.payload).toStrictEqual({ invoiceId: 1 });
  });
});
