/**
 * A worker that moves money, as a process of its own: `node dist/money-worker.js <store> <place>`. It works until it is
 * killed, or its standard input ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineHandlers, handler, type Job, Queue, Worker, type WorkSource } from '@q/core';
import { MysqlDriver, type MysqlTransaction } from '@q/driver-mysql';
import { PgDriver, type PgTransaction } from '@q/driver-pg';
import { type SqliteDatabase, SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { sqlOf, type Transfer } from './money.js';

// Long enough to be killed in: between two statements, and after the commit. A job that is not completed in its transaction
// would be made a second time by whoever takes over from a handler that was killed there.
const PAUSE_MS = 5;
const LINGER_MS = 40;

/** Sends a statement in the transaction. */
type Send = (sql: string) => Promise<unknown>;

/** Both rows, the transfer itself, and the end of the job. */
async function transfer<Tx>(what: Transfer, job: Job<Transfer, Tx>, tx: Tx, send: Send): Promise<void> {
  for (const sql of sqlOf(what, job.attempts)) {
    await send(sql);
    await sleep(Math.random() * PAUSE_MS);
  }
  await job.complete(tx);
  await sleep(Math.random() * PAUSE_MS);
}

async function linger(): Promise<void> {
  await sleep(Math.random() * LINGER_MS);
}

function onPostgres(connectionString: string): WorkSource {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  const handlers = defineHandlers({
    transfer: handler(async (what: Transfer, job: Job<Transfer, PgTransaction>) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await transfer(what, job, client, (sql) => client.query(sql));
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
      await linger();
    }),
  });
  return new Queue({ driver: new PgDriver(pool), handlers, backoff: 0 });
}

function onMysql(url: string): WorkSource {
  const pool = mysql.createPool(url);
  const handlers = defineHandlers({
    transfer: handler(async (what: Transfer, job: Job<Transfer, MysqlTransaction>) => {
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        await transfer(what, job, connection, (sql) => connection.query(sql));
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
      await linger();
    }),
  });
  return new Queue({ driver: new MysqlDriver(pool), handlers, backoff: 0 });
}

function onSqlite(file: string): WorkSource {
  const database = new Database(file);
  const handlers = defineHandlers({
    transfer: handler(async (what: Transfer, job: Job<Transfer, SqliteDatabase>) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        await transfer(what, job, database, async (sql) => database.exec(sql));
        database.exec('COMMIT');
      } catch (error) {
        if (database.inTransaction) database.exec('ROLLBACK');
        throw error;
      }
      await linger();
    }),
  });
  return new Queue({ driver: new SqliteDriver(database), handlers, backoff: 0 });
}

const OPEN: Readonly<Record<string, (place: string) => WorkSource>> = {
  Postgres: onPostgres,
  MariaDB: onMysql,
  SQLite: onSqlite,
};

const [, , store = '', place = ''] = process.argv;
const queue = OPEN[store]?.(place);
if (queue === undefined) throw new Error(`There is no store ${store}`);
// A connection of better-sqlite3's has one transaction at a time, so on SQLite there is one handler to a process.
const concurrency = store === 'SQLite' ? 1 : 2;
process.stdin.resume().on('end', () => process.exit());
await new Worker({ queue, concurrency, lease: 2, sleep: 0.1 }).run();
