import type Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { aJob, count, insertRaw, open } from './fixtures.js';

const HIGH = 2n ** 31n + 5n;
const BEYOND = 2n ** 53n + 11n;

/** Makes `next` the id that the table gives next. */
function setNextId(db: Database.Database, next: bigint, table = 'queue_jobs'): void {
  db.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table);
  db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, next - 1n);
}

function idsOf(db: Database.Database): bigint[] {
  return db.prepare('SELECT id FROM queue_jobs ORDER BY id').safeIntegers(true).pluck().all() as bigint[];
}

describe('ids above 2^31', () => {
  it('are right in every method', async () => {
    const { driver, db } = await open();
    setNextId(db, HIGH);
    setNextId(db, HIGH, 'queue_failed_jobs');
    const id = await driver.push(aJob({ unique: 'k' }));
    expect(id).toBe(2 ** 31 + 5);
    expect(await driver.push(aJob({ unique: 'k' }))).toBe(id);
    expect(await driver.find(id)).toMatchObject({ id });
    const job = await driver.reserve(['default'], 60, 'w');
    if (job === null) return expect.unreachable();
    expect(job.id).toBe(id);
    expect(await driver.extend(job, 90)).toBe(true);
    expect(await driver.release(job, 0, '')).toBe(true);
    const again = await driver.reserve(['default'], 60, 'w');
    if (again === null) return expect.unreachable();
    expect(again).toMatchObject({ id, attempts: 2 });
    expect(await driver.fail(again, 'no')).toBe(true);
    const [failed] = await driver.failedRows(1);
    expect(failed?.id).toBe(2 ** 31 + 5);
    expect(await driver.retryFailed({ id: 2 ** 31 + 5 }, 3)).toBe(1);
    const [last] = await driver.reserveMany(['default'], 5, 60, 'w');
    if (last === undefined) return expect.unreachable();
    expect(await driver.delete(last)).toBe(true);
    expect(count(db)).toBe(0);
  });
});

describe('a row whose id is above 2^53 − 1', () => {
  it('is left alone, with one warning, and keeps nothing else from being run', async () => {
    const { driver, db, warnings } = await open();
    const mine = await driver.push(aJob());
    insertRaw(db, { id: BEYOND });
    expect(await driver.pending()).toBe(1);
    expect(await driver.pending('default')).toBe(1);
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ id: mine });
    expect(await driver.reserve(['default'], 60, 'w')).toBe(null);
    expect(await driver.reserveMany(['default'], 9, 60, 'w')).toStrictEqual([]);
    expect(warnings).toStrictEqual([
      {
        code: 'id_out_of_range',
        message:
          'queue_jobs holds jobs with ids above 2^53 − 1, which no JavaScript number can hold; they are left alone',
      },
    ]);
    expect(idsOf(db)).toStrictEqual([BigInt(mine), BEYOND]);
  });

  it('that holds a unique key is no answer to a push of the key', async () => {
    const { driver, db } = await open();
    insertRaw(db, { id: BEYOND });
    db.exec("UPDATE queue_jobs SET unique_key = 'k'");
    await expect(driver.push(aJob({ unique: 'k' }))).rejects.toMatchObject({ code: 'id_out_of_range' });
  });
});

describe('a push that would be given an id above 2^53 − 1', () => {
  const refused = { code: 'id_out_of_range' };

  it('is refused and stores nothing, plain or in a batch', async () => {
    const { driver, db } = await open();
    setNextId(db, 2n ** 53n - 1n);
    expect(await driver.push(aJob())).toBe(2 ** 53 - 1);
    await expect(driver.push(aJob())).rejects.toMatchObject(refused);
    await expect(driver.pushMany([aJob(), aJob()])).rejects.toMatchObject(refused);
    expect(idsOf(db)).toStrictEqual([2n ** 53n - 1n]);
  });

  it('is refused and taken back on the application’s connection, whose transaction goes on', async () => {
    const { driver, db } = await open();
    db.defaultSafeIntegers(true);
    setNextId(db, 2n ** 53n - 1n);
    db.exec('CREATE TABLE notes (text)');
    db.exec('BEGIN');
    await expect(driver.within(db).pushMany([aJob(), aJob()])).rejects.toMatchObject(refused);
    await expect(driver.within(db).push(aJob())).rejects.toMatchObject(refused);
    expect(() => driver.pushSync(aJob())).toThrow(expect.objectContaining(refused));
    db.exec("INSERT INTO notes VALUES ('kept')");
    db.exec('COMMIT');
    expect(() => driver.pushSync(aJob())).toThrow(expect.objectContaining(refused));
    expect([count(db), count(db, 'notes')]).toStrictEqual([0, 1]);
  });

  it('is refused for a failed job that is put back, which stays where it is', async () => {
    const { driver, db } = await open();
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    if (job === null) return expect.unreachable();
    await driver.fail(job, 'no');
    setNextId(db, BEYOND);
    await expect(driver.retryFailed('all', 3)).rejects.toMatchObject(refused);
    expect([count(db), count(db, 'queue_failed_jobs')]).toStrictEqual([0, 1]);
  });
});
