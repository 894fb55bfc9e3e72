import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  QueueBatches,
  QueueDriver,
  QueueInspection,
  QueueReports,
  QueueSyncPush,
  QueueTransactions,
} from '@q/core';
import { MysqlDriver, type MysqlTransaction } from '@q/driver-mysql';
import { PgDriver, type PgTransaction } from '@q/driver-pg';
import { type SqliteDatabase, SqliteDriver } from '@q/driver-sqlite';
import { createMysqlDatabase, createPostgresDatabase } from '@q/servers';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';

// More than 32 bits, so that a library which reads an id as such a number is found out.
const FIRST_ID = 2 ** 33;

export type Driver<Tx> = QueueDriver & QueueReports & QueueBatches & QueueInspection & QueueTransactions<Tx>;

/** A database of the application's, with the tables of q and a table `notes` in it. */
export interface Store<Tx> extends AsyncDisposable {
  /** A URL; of SQLite the file. */
  readonly place: string;
  /** On connections of its own, so what it says is what others see. */
  readonly driver: Driver<Tx>;
  /** The rows that a statement of the application's gives, outside any transaction. */
  rows(sql: string): Promise<Record<string, unknown>[]>;
  /** The texts in `notes`, in alphabetical order. */
  notes(): Promise<string[]>;
  /** Empties the three tables. */
  clear(): Promise<void>;
}

export async function openPostgres(serverUrl: string): Promise<Store<PgTransaction>> {
  const space = await createPostgresDatabase(serverUrl);
  const pool = new pg.Pool({ connectionString: space.url });
  pool.on('error', () => {});
  const driver = new PgDriver(pool, { listen: false });
  await driver.createTables();
  await pool.query('CREATE TABLE notes (id serial PRIMARY KEY, text text NOT NULL UNIQUE)');
  await pool.query(`ALTER SEQUENCE queue_jobs_id_seq RESTART ${FIRST_ID}`);
  return {
    place: space.url,
    driver,
    async rows(sql) {
      return (await pool.query(sql)).rows;
    },
    async notes() {
      const { rows } = await pool.query<{ text: string }>('SELECT text FROM notes ORDER BY text');
      return rows.map(({ text }) => text);
    },
    async clear() {
      await pool.query('DELETE FROM notes; DELETE FROM queue_jobs; DELETE FROM queue_failed_jobs');
    },
    async [Symbol.asyncDispose]() {
      await driver.close();
      await pool.end();
      await space.drop();
    },
  };
}

export async function openMysql(serverUrl: string): Promise<Store<MysqlTransaction>> {
  const space = await createMysqlDatabase(serverUrl);
  const pool = mysql.createPool(space.url);
  const driver = new MysqlDriver(pool);
  await driver.createTables();
  await pool.query('CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, text varchar(100) NOT NULL UNIQUE)');
  await pool.query(`ALTER TABLE queue_jobs AUTO_INCREMENT = ${FIRST_ID}`);
  return {
    place: space.url,
    driver,
    async rows(sql) {
      const [rows] = await pool.query<mysql.RowDataPacket[]>(sql);
      return rows;
    },
    async notes() {
      const [rows] = await pool.query<mysql.RowDataPacket[]>('SELECT text FROM notes ORDER BY text');
      return rows.map(({ text }) => text);
    },
    async clear() {
      for (const table of ['notes', 'queue_jobs', 'queue_failed_jobs']) await pool.query(`DELETE FROM ${table}`);
    },
    async [Symbol.asyncDispose]() {
      await driver.close();
      await pool.end();
      await space.drop();
    },
  };
}

export async function openSqlite(): Promise<Store<SqliteDatabase> & { readonly driver: QueueSyncPush }> {
  const folder = await mkdtemp(join(tmpdir(), 'q-transactions-'));
  const place = join(folder, 'app.db');
  const database = new Database(place);
  database.pragma('journal_mode = WAL');
  const driver = new SqliteDriver(database);
  await driver.createTables();
  database.exec('CREATE TABLE notes (id integer PRIMARY KEY, text text NOT NULL UNIQUE)');
  database.exec(`INSERT INTO sqlite_sequence (name, seq) VALUES ('queue_jobs', ${FIRST_ID})`);
  return {
    place,
    driver,
    async rows(sql) {
      const statement = database.prepare<[], Record<string, unknown>>(sql);
      if (statement.reader) return statement.all();
      statement.run();
      return [];
    },
    async notes() {
      return database.prepare<[], string>('SELECT text FROM notes ORDER BY text').pluck().all();
    },
    async clear() {
      database.exec('DELETE FROM notes; DELETE FROM queue_jobs; DELETE FROM queue_failed_jobs');
    },
    async [Symbol.asyncDispose]() {
      await driver.close();
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
