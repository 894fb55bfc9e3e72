import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { aJob, count, messageOf, open, start } from './fixtures.js';

describe('a lock held by another process for 3 s', () => {
  it('is waited out by pushes, in their order, without blocking the event loop', async () => {
    const { driver, db, file } = await open();
    const child = start('lock', file, 3000);
    expect(await messageOf(child)).toBe('locked');
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const startMs = performance.now();
    const ids = await Promise.all(Array.from({ length: 100 }, () => driver.push(aJob())));
    const waitedMs = performance.now() - startMs;
    delay.disable();
    expect(ids).toStrictEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    expect(waitedMs).toBeGreaterThan(2000);
    expect(delay.max / 1e6).toBeLessThan(250);
    expect(count(db)).toBe(100);
  });

  it('does not keep a worker from seeing that nothing is due', async () => {
    const { driver, file } = await open();
    await messageOf(start('lock', file, 3000));
    const startMs = performance.now();
    expect(await driver.reserve(['default'], 60, 'w')).toBe(null);
    expect(await driver.reserveMany(['default', 'mail'], 10, 60, 'w')).toStrictEqual([]);
    expect(performance.now() - startMs).toBeLessThan(1000);
  });
});

describe('a lock held for longer than callTimeout', () => {
  it('is a clear error that names the file, and nothing is stored later', async () => {
    const { driver, db, file } = await open({ callTimeout: 1 });
    db.exec('BEGIN IMMEDIATE');
    const startMs = performance.now();
    const pushes = await Promise.allSettled([driver.push(aJob()), driver.push(aJob()), driver.pushMany([aJob()])]);
    const waitedMs = performance.now() - startMs;
    for (const push of pushes) {
      expect(push).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'store_busy',
          message: expect.stringContaining(`${file} stayed locked for 1 s (callTimeout)`),
          cause: { code: 'SQLITE_BUSY' },
        },
      });
    }
    expect(waitedMs).toBeGreaterThanOrEqual(1000);
    expect(waitedMs).toBeLessThan(2000);
    db.exec('COMMIT');
    expect(await driver.push(aJob())).toBe(1);
    expect(count(db)).toBe(1);
  });

  it('says what to do where it is this process’s own transaction', async () => {
    const { driver, db } = await open({ callTimeout: 1 });
    db.exec('BEGIN IMMEDIATE');
    await expect(driver.push(aJob())).rejects.toThrow('pushed with within(db) or pushSync');
    db.exec('ROLLBACK');
  });

  it('of a reader, outside WAL, refuses the commit: the whole push is done again', async () => {
    const { driver, db } = await open({ journal: 'delete' });
    await driver.push(aJob());
    const rows = db.prepare('SELECT id FROM queue_jobs').iterate(); // an open cursor holds the shared lock
    rows.next();
    let settled = false;
    const push = driver.push(aJob()).finally(() => {
      settled = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(settled).toBe(false);
    rows.return?.();
    expect(await push).toBe(2);
    expect(count(db)).toBe(2);
  });
});

describe('pushSync', () => {
  it('that SQLite cannot commit throws, and is not taken for done', async () => {
    const { driver, db, file } = await open({ journal: 'delete' });
    driver.pushSync(aJob());
    db.pragma('busy_timeout = 0');
    const other = await open({ file, journal: null, tables: false });
    const rows = other.db.prepare('SELECT id FROM queue_jobs').iterate();
    rows.next();
    expect(() => driver.pushSync(aJob())).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }));
    rows.return?.();
    expect(count(db)).toBe(1);
  });
});
