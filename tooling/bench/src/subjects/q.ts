/** q through its public API with its documented options, all guarantees on. */
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { MysqlDriver } from '@q/driver-mysql';
import { PgDriver } from '@q/driver-pg';
import { RedisDriver } from '@q/driver-redis';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { NAME, type StoreKind, type Subject } from '../subject.js';

const BEST_CONCURRENCY = 500;

export function qSubject(store: StoreKind, url: string): Subject {
  const { driver, install, count, close } = OPEN[store](url);
  let effect: (job: number) => void = () => {};
  const handlers = defineHandlers({ [NAME]: handler(async ({ job }: { job: number }) => effect(job)) });
  const queue = new Queue({ driver, handlers });
  return {
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

const OPEN = {
  postgres(url: string) {
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
  redis(url: string) {
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
  sqlite(file: string) {
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
  mariadb(url: string) {
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
