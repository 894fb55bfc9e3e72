// A server without SKIP LOCKED: the guard alone keeps two workers from one job. What such a server answers is what any other
// does, so one that has the clause stands in for it, by another version.
import { CASES, runCase } from '@q/conformance';
import type mysql from 'mysql2/promise';
import { describe, expect, inject, it } from 'vitest';
import type { MysqlDriver } from '../src/index.js';
import { aJob, claiming, count, open, rowsOf, until, useDatabase, type WatchOptions, watched } from './fixtures.js';
import { harnessFor } from './harness.js';

const OLD = '10.5.22-MariaDB';
const database = useDatabase();

/** A driver that takes its server for an old one. `before` sees each statement before it is sent. */
async function openOld(before: NonNullable<WatchOptions['before']> = () => undefined) {
  const { pool } = await open(database.url());
  const notes = watched(pool, { before: (sql, n) => claiming(OLD)(sql, n) ?? before(sql, n) });
  const opened = await open(database.url(), { wrap: () => notes.pool });
  return { ...opened, notes };
}

const isCandidates = (sql: string) => /SELECT id,[\s\S]*FROM `queue_jobs` FORCE INDEX/.test(sql);

describe('on a server without SKIP LOCKED', () => {
  const topics = ['claims', 'races', 'reserve-order', 'reserve-many', 'undecodable', 'fences'];
  const harness = harnessFor({
    url: () => inject('mariadb'),
    wrap: (pool) => watched(pool.promise() as unknown as mysql.Pool, { before: claiming(OLD) }).pool,
  });

  it.each(CASES.filter(({ id }) => topics.includes(id.slice(0, id.indexOf('/')))))('$name ($id)', (one) => {
    return runCase(harness, one);
  });

  it('a candidate that was claimed and released into the future meanwhile is not claimed', async () => {
    let other: MysqlDriver | null = null;
    let meddled = 0;
    const { driver, notes, clock } = await openOld(async (sql) => {
      if (other === null || !/^\s*UPDATE[\s\S]*attempts = attempts \+ 1/.test(sql)) return;
      const meddler: MysqlDriver = other;
      other = null;
      meddled += 1;
      const job = await meddler.reserve(['default'], 60, 'other');
      expect(job !== null && (await meddler.release(job, 365 * 86_400, 'next year'))).toBe(true);
    });
    const { driver: meddler, pool } = await open(database.url(), { now: clock.now });
    const id = await meddler.push(aJob());
    other = meddler;
    expect(await driver.reserve(['default'], 60, 'slow')).toBeNull();
    expect([meddled, notes.sent.filter((sql) => /^\s*UPDATE/.test(sql)).length]).toStrictEqual([1, 1]);
    expect(
      await rowsOf(pool, 'SELECT id, attempts, reserved_until, reserved_by, available_at FROM queue_jobs'),
    ).toStrictEqual([[String(id), '1', null, null, '2032-05-16 10:20:30']]);
  });

  it.each([
    ['claimed and released at once', 0],
    ['claimed and still held', null],
  ])('a candidate that was %s meanwhile is lost to its first reader', async (_, delay) => {
    let other: MysqlDriver | null = null;
    const { driver, clock } = await openOld(async (sql) => {
      if (other === null || !/^\s*UPDATE/.test(sql)) return;
      const meddler: MysqlDriver = other;
      other = null;
      const job = await meddler.reserve(['default'], 60, 'other');
      if (job !== null && delay !== null) await meddler.release(job, delay, '');
    });
    const { driver: meddler } = await open(database.url(), { now: clock.now });
    await meddler.push(aJob());
    other = meddler;
    const job = await driver.reserve(['default'], 60, 'slow');
    // Released: another round finds it, as the second attempt that it is. Held: it is the other's.
    expect(job?.attempts ?? null).toBe(delay === null ? null : 2);
  });

  it('five lost races end a reserve, the last of which waits instead of racing', async () => {
    const { pool, driver: pusher, clock } = await open(database.url());
    const { driver, notes } = await openOld(async (sql) => {
      // Before each claim somebody else claims all there is, and lets go of it at once.
      if (/^\s*UPDATE/.test(sql)) await pool.query('UPDATE queue_jobs SET attempts = attempts + 1');
    });
    void clock;
    await pusher.push(aJob());
    const reserving = driver.reserve(['default'], 60, 'slow');
    await until('the last round waits', () => notes.sent.filter((sql) => /FOR UPDATE$/.test(sql)).length === 1);
    const forms = notes.sent.filter(isCandidates).map((sql) => /FOR UPDATE/.test(sql));
    expect(forms).toStrictEqual([false, false, false, false, true]);
    // The fifth round holds the row, so the meddler waits for it, and the test would wait for ever: it is ended.
    await endWaiting(pool);
    await Promise.allSettled([reserving]);
  });

  it('the last round takes what it has waited for', async () => {
    const { pool, driver: pusher } = await open(database.url());
    let rounds = 0;
    const { driver } = await openOld(async (sql) => {
      if (!/^\s*UPDATE/.test(sql)) return;
      rounds += 1;
      if (rounds < 5) await pool.query('UPDATE queue_jobs SET attempts = attempts + 1');
    });
    const id = await pusher.push(aJob());
    expect(await driver.reserve(['default'], 60, 'slow')).toMatchObject({ id, attempts: 5 });
    expect([rounds, await count(pool)]).toStrictEqual([5, 1]);
  });

  it('three workers and many jobs: each is had once', async () => {
    const { driver: pusher } = await open(database.url());
    const drivers = [await openOld(), await openOld(), await openOld()].map((opened) => opened.driver);
    // Emptied by each that was opened: now there is something to do.
    await pusher.pushMany(Array.from({ length: 60 }, (_, n) => aJob({ priority: n % 3 })));
    const had: number[] = [];
    const work = async (driver: MysqlDriver) => {
      for (let idle = 0; idle < 3; ) {
        const jobs = await driver.reserveMany(['default'], 3, 60, 'w');
        idle = jobs.length === 0 ? idle + 1 : 0;
        for (const { id, attempts } of jobs) {
          expect(attempts).toBe(1);
          had.push(id);
        }
      }
    };
    await Promise.all(drivers.map(work));
    expect(had.toSorted((a, b) => a - b)).toStrictEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  });
});

async function endWaiting(pool: mysql.Pool): Promise<void> {
  await until('somebody waits', async () => {
    const rows = await rowsOf(pool, 'SHOW PROCESSLIST');
    const waiting = rows.filter((row) => row.some((cell) => cell?.includes('SET attempts = attempts + 1') ?? false));
    for (const [id] of waiting) await pool.query(`KILL QUERY ${id}`).catch(() => {});
    return waiting.length > 0;
  });
}
