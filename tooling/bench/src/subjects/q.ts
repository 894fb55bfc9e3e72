/** q through its public API with its documented options, all guarantees on. */
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { NAME, type StoreKind, type Subject } from '../subject.js';

const BEST_CONCURRENCY = 500;

export async function qSubject(store: StoreKind, url: string): Promise<Subject> {
  const { driver, install, count, close } = await OPEN[store](url);
  let effect: (job: number) => void = () => {};
  const handlers = defineHandlers({ [NAME]: handler(async ({ job }: { job: number }) => effect(job)) });
  const queue = new Queue({ driver, handlers });
  return {
    batch: BEST_CONCURRENCY,
    install,
    count,
    async push(job) {
      await queue.push(NAME, { job });
    },
    async pushMany(jobs) {
      await queue.pushMany(jobs.map((job) => ({ name: NAME, payload: { job } })));
    },
    async work({ concurrency, effect: count, until }) {
      effect = count;
      const worker = new Worker({ queue, concurrency: concurrency === 'best' ? BEST_CONCURRENCY : 1 });
      const ended = worker.run();
      await Promise.race([until, ended]);
      await worker.stop();
      if ((await ended) !== 0) throw new Error('the worker ended with 1');
    },
    close,
  };
}

const COUNT = 'SELECT count(*) AS jobs FROM queue_jobs';

// Each loads only its own client: a measurement is of a process that has no other.
const OPEN = {
  async postgres(url: string) {
    const { default: pg } = await import('pg');
    const { PgDriver } = await import('@q/driver-pg');
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    const driver = new PgDriver(pool);
    return {
      driver,
      install: () => driver.createTables(),
      count: async () => Number((await pool.query(COUNT)).rows[0].jobs),
      async close() {
        await driver.close();
        await pool.end();
      },
    };
  },
  async redis(url: string) {
    const { Redis } = await import('ioredis');
    const { RedisDriver } = await import('@q/driver-redis');
    const redis = new Redis(url);
    const driver = new RedisDriver(redis);
    return {
      driver,
      install: async () => {},
      count: () => redis.xlen('{queue}:ready:0:default'),
      async close() {
        await driver.close();
        await redis.quit();
      },
    };
  },
  async sqlite(file: string) {
    const { default: Database } = await import('better-sqlite3');
    const { SqliteDriver } = await import('@q/driver-sqlite');
    const db = new Database(file);
    db.pragma('journal_mode = WAL');
    const driver = new SqliteDriver(db);
    return {
      driver,
      install: async () => driver.createTables(),
      count: async () => (db.prepare(COUNT).get() as { jobs: number }).jobs,
      async close() {
        await driver.close();
        db.close();
      },
    };
  },
  async mariadb(url: string) {
    const { default: mysql } = await import('mysql2/promise');
    const { MysqlDriver } = await import('@q/driver-mysql');
    const pool = mysql.createPool({ uri: url, connectionLimit: 10 });
    const driver = new MysqlDriver(pool);
    return {
      driver,
      install: () => driver.createTables(),
      count: async () => Number(((await pool.query(COUNT))[0] as { jobs: number }[])[0]?.jobs),
      async close() {
        await driver.close();
        await pool.end();
      },
    };
  },
};
