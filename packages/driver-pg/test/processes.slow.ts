import { describe, expect, it } from 'vitest';
import { aJob, count, messageOf, open, start, until, useDatabase } from './fixtures.js';

const database = useDatabase();

describe('eight workers, four jobs at a time each, and four pushers', () => {
  it('do each of 20,000 jobs once, while more are pushed', async () => {
    const { pool } = await open(database.url(), { now: () => new Date() });
    const workers = Array.from({ length: 8 }, () => start('work', database.url(), 4));
    const pushers = Array.from({ length: 4 }, () => start('push', database.url(), 5_000));
    await Promise.all([...workers, ...pushers].map((child) => messageOf(child)));
    const begun = performance.now();
    const pushed = Promise.all(pushers.map((child) => messageOf(child)));
    for (const child of pushers) child.send('go');
    await pushed;
    const pushedMs = performance.now() - begun;
    await until('all are done', async () => (await count(pool)) === 0, 300_000);
    const doneMs = performance.now() - begun;
    const done = workers.map((child) => messageOf<number[]>(child));
    for (const child of workers) child.send('stop');
    const ids = await Promise.all(done);
    console.log(
      `20,000 jobs: pushed in ${(pushedMs / 1000).toFixed(1)} s, done in ${(doneMs / 1000).toFixed(1)} s; ` +
        `by worker: ${ids.map(({ length }) => length).join(', ')}`,
    );
    expect(ids.flat().toSorted((a, b) => a - b)).toStrictEqual(Array.from({ length: 20_000 }, (_, index) => index + 1));
    expect(await count(pool, 'queue_failed_jobs')).toBe(0);
  });
});

describe('a worker that is killed with five jobs in hand', () => {
  it('has them finished by another, once its claims have ended', async () => {
    const { pool, driver } = await open(database.url(), { now: () => new Date() });
    await driver.pushMany(Array.from({ length: 5 }, () => aJob({ name: 'work' })));
    const holder = start('hold', database.url(), 5, 2);
    expect(await messageOf(holder)).toBe(5);
    holder.kill('SIGKILL');
    const other = start('work', database.url(), 4);
    await messageOf(other);
    const tookMs = await until('all are done', async () => (await count(pool)) === 0);
    expect(tookMs).toBeLessThan(6_000);
    const ids = messageOf<number[]>(other);
    other.send('stop');
    expect((await ids).toSorted()).toStrictEqual([1, 2, 3, 4, 5]);
  });
});

describe('a process that is killed at any moment', () => {
  it('leaves as many jobs as rows of the application, fifteen times', async () => {
    const { pool } = await open(database.url());
    await pool.query('CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)');
    for (let round = 0; round < 15; round += 1) {
      const child = start('pair', database.url());
      await messageOf(child);
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    await until('the server has noticed', async () => {
      const { rows } = await pool.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'",
      );
      return rows[0].n === 0;
    });
    const [notes, jobs] = [await count(pool, 'notes'), await count(pool)];
    expect(notes).toBe(jobs);
    expect(jobs).toBeGreaterThan(15);
  });
});
