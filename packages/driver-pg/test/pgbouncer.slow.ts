import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { defineHandlers, handler, Queue, type ReservedJob, Worker } from '@q/core';
import { type Server, startPgBouncer } from '@q/servers';
import { afterAll, describe, expect, inject, it, test } from 'vitest';
import { aJob, aPool, open, until, useDatabase } from './fixtures.js';
import { harnessFor } from './harness.js';

const url = inject('postgres');
let bouncer: Promise<Server> | null = null;
afterAll(async () => (await bouncer)?.close());

/** A database of the server by way of a PgBouncer in transaction mode that has two connections to it. */
async function via(databaseUrl: string): Promise<string> {
  bouncer ??= startPgBouncer(url, { poolSize: 2 });
  const through = new URL((await bouncer).url);
  through.pathname = new URL(databaseUrl).pathname;
  return through.href;
}

describeDriver({ describe, test }, 'PgDriver behind PgBouncer', harnessFor({ url, via }));
describeModel({ describe, test }, 'PgDriver behind PgBouncer', harnessFor({ url, via }), {
  sequences: { runs: 100 },
  schedules: { runs: 100 },
});

describe('behind PgBouncer', () => {
  const database = useDatabase();

  it('LISTEN is found out not to work and given up with a warning; workers poll', async () => {
    const { driver, warnings } = await open(await via(database.url()), { now: () => new Date() });
    const ran: number[] = [];
    const work = handler(async (_: object, job) => {
      ran.push(job.id);
    });
    const queue = new Queue({ driver, handlers: defineHandlers({ work }) });
    const worker = new Worker({ queue, sleep: 0.1 });
    const run = worker.run();
    await until('the warning', () => warnings.length > 0);
    expect(warnings.map(({ code }) => code)).toStrictEqual(['listen_unavailable']);
    const id = await queue.push('work', {});
    await until('the job is run by polling', () => ran.includes(id));
    await worker.stop();
    await run;
  });

  it('four workers leave no prepared statement, no setting and no lock on the connections they share', async () => {
    const { driver } = await open(await via(database.url()), { now: () => new Date() });
    const { pool: direct } = await open(database.url(), { tables: false });
    await driver.pushMany(Array.from({ length: 200 }, () => aJob()));
    const work = async () => {
      let jobs: ReservedJob[];
      do {
        jobs = await driver.reserveMany(['default'], 3, 60, 'w');
        await driver.deleteMany(jobs);
      } while (jobs.length > 0);
    };
    await Promise.all([work(), work(), work(), work()]);
    const shared = aPool({ connectionString: await via(database.url()), max: 1 });
    const text = `SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
      (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks`;
    for (let look = 0; look < 20; look += 1) {
      expect((await shared.query(text)).rows[0]).toMatchObject({ statements: 0, locks: 0 });
    }
    const { rows } = await direct.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND application_name <> 'direct'`,
    );
    // PgBouncer's two, and this pool's own.
    expect(rows[0].n).toBeLessThanOrEqual(3);
  });
});
