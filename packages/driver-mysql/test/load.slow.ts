import { type Server, startMariaDb, startMysql, startOldMariaDb } from '@q/servers';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aJob, count, messageOf, open, rowsOf, start, until, useDatabase } from './fixtures.js';

describe.each([
  ['MariaDB', startMariaDb, 8, 2_000],
  ['MySQL', startMysql, 8, 2_000],
  ['MariaDB 10.5', startOldMariaDb, 4, 500],
] as const)('on a %s of one’s own', (name, startServer, workerCount, pushes) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ own: true });
  });
  afterAll(() => server.close());
  const database = useDatabase(() => server.url);

  /** How long anybody has waited for a lock since the server was started. */
  async function longestLockWaitMs(): Promise<number> {
    const root = await mysql.createConnection(server.url);
    const [row] = await rowsOf(root, "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_time_max'");
    await root.end();
    return Number(row?.[1]);
  }

  it(`four pushers of ${pushes} jobs each and ${workerCount} workers: each job once, no error, no long wait for a lock`, async () => {
    const { pool } = await open(database.url(), { now: () => new Date() });
    const workers = Array.from({ length: workerCount }, () => start('work', database.url(), 2));
    const pushers = Array.from({ length: 4 }, () => start('push', database.url(), pushes));
    await Promise.all([...workers, ...pushers].map((child) => messageOf(child)));
    const begun = performance.now();
    const pushed = pushers.map((child) => messageOf<{ errors: string[]; slowestMs: number; stallMs: number }>(child));
    for (const child of pushers) child.send('go');
    const told = await Promise.all(pushed);
    const pushedMs = performance.now() - begun;
    await until('all are done', async () => (await count(pool)) === 0, 240_000);
    const doneMs = performance.now() - begun;
    const done = workers.map((child) => messageOf<{ ran: number[]; failures: string[] }>(child));
    for (const child of workers) child.send('stop');
    const works = await Promise.all(done);
    const slowestMs = Math.max(...told.map((one) => one.slowestMs));
    const stallMs = Math.max(...told.map((one) => one.stallMs));
    const waitMs = await longestLockWaitMs();
    console.log(
      `${name}: ${pushes * 4} pushed one by one in ${(pushedMs / 1000).toFixed(1)} s, done in ${(doneMs / 1000).toFixed(1)} s; ` +
        `the slowest push took ${slowestMs.toFixed(0)} ms, the longest wait for a lock ${waitMs} ms, ` +
        `the longest that a process did not run ${stallMs.toFixed(0)} ms; by worker: ${works.map(({ ran }) => ran.length).join(', ')}`,
    );
    expect(told.flatMap(({ errors }) => errors)).toStrictEqual([]);
    expect(works.flatMap(({ failures }) => failures)).toStrictEqual([]);
    const ran = works.flatMap((work) => work.ran).toSorted((a, b) => a - b);
    expect(ran).toStrictEqual(Array.from({ length: pushes * 4 }, (_, index) => index + 1));
    expect(await count(pool, 'queue_failed_jobs')).toBe(0);
    // Without SKIP LOCKED the last round of a reserve waits for its turn, on purpose. Where the machine does not run a process
    // for a while, those that wait for it wait as long.
    if (name !== 'MariaDB 10.5') expect(waitMs).toBeLessThan(1_000 + 5 * stallMs);
  });

  it('a worker that is killed with five jobs in hand has them finished by another, once its claims have ended', async () => {
    const { pool, driver } = await open(database.url(), { now: () => new Date() });
    await driver.pushMany(Array.from({ length: 5 }, () => aJob({ name: 'work' })));
    const holder = start('hold', database.url(), 5, 2);
    expect(await messageOf(holder)).toBe(5);
    holder.kill('SIGKILL');
    const other = start('work', database.url(), 4);
    await messageOf(other);
    const tookMs = await until('all are done', async () => (await count(pool)) === 0);
    expect(tookMs).toBeLessThan(8_000);
    const work = messageOf<{ ran: number[] }>(other);
    other.send('stop');
    expect((await work).ran.toSorted()).toStrictEqual([1, 2, 3, 4, 5]);
  });

  it('a process that is killed at any moment leaves as many jobs as rows of the application, ten times', async () => {
    const { pool } = await open(database.url());
    await pool.query('CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, text text NOT NULL) ENGINE=InnoDB');
    let acknowledged = 0;
    for (let round = 0; round < 10; round += 1) {
      const child = start('pair', database.url());
      child.on('message', (message) => {
        acknowledged += message === 'committed' ? 1 : 0;
      });
      const goal = acknowledged + 1 + Math.floor(Math.random() * 5);
      await until('it has committed some', () => acknowledged >= goal);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    await until('the server has noticed', async () => (await count(pool, 'notes')) === (await count(pool)));
    expect(await count(pool)).toBeGreaterThanOrEqual(acknowledged);
  });
});
