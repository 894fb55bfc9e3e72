import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMysqlDatabase,
  createPostgresDatabase,
  redisCall,
  startMariaDb,
  startPostgres,
  startRedis,
} from '@q/servers';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { StoreKind } from './subject.js';

/** A throw-away server, at its own default durability. */
export interface Store extends AsyncDisposable {
  /** What it is and what its durability is, for the report. */
  readonly version: string;
  /** An empty place in it for one measurement. */
  open(): Promise<{ readonly url: string } & AsyncDisposable>;
}

export const startStore: Readonly<Record<StoreKind, () => Promise<Store>>> = {
  async postgres() {
    const server = await startPostgres({ durable: true });
    const client = new pg.Client(server.url);
    await client.connect();
    const show = async (name: string) => (await client.query(`SHOW ${name}`)).rows[0][name];
    const version = `PostgreSQL ${await show('server_version')}, fsync ${await show('fsync')}, synchronous_commit ${await show('synchronous_commit')}`;
    await client.end();
    return { version, open: () => createPostgresDatabase(server.url), [Symbol.asyncDispose]: () => server.close() };
  },
  async redis() {
    const server = await startRedis({ durable: true });
    const info = String(await redisCall(server.url, 'INFO', 'server'));
    const [, appendonly] = (await redisCall(server.url, 'CONFIG', 'GET', 'appendonly')) as string[];
    const version = `Redis ${/redis_version:(\S+)/.exec(info)?.[1]}, appendonly ${appendonly}`;
    const flush = async () => void (await redisCall(server.url, 'FLUSHALL'));
    const open = async () => {
      await flush();
      return { url: server.url, [Symbol.asyncDispose]: flush };
    };
    return { version, open, [Symbol.asyncDispose]: () => server.close() };
  },
  async sqlite() {
    const open = async () => {
      const folder = mkdtempSync(join(tmpdir(), 'q-bench-'));
      const remove = async () => rmSync(folder, { recursive: true, force: true });
      return { url: join(folder, 'jobs.db'), [Symbol.asyncDispose]: remove };
    };
    // In a file with a table, like those that are measured: WAL has a default of its own, which holds from the first read on.
    await using place = await open();
    const db = new Database(place.url);
    db.pragma('journal_mode = WAL');
    db.exec('CREATE TABLE anything (x)');
    const { version } = db.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    const synchronous = db.pragma('synchronous', { simple: true });
    db.close();
    return {
      version: `SQLite ${version}, journal_mode WAL, synchronous ${synchronous}`,
      open,
      [Symbol.asyncDispose]: async () => {},
    };
  },
  async mariadb() {
    const server = await startMariaDb({ durable: true });
    const connection = await mysql.createConnection(server.url);
    const [rows] = await connection.query(
      'SELECT version() AS version, @@innodb_flush_log_at_trx_commit AS flush, @@log_bin AS log_bin',
    );
    const [row] = rows as { version: string; flush: number; log_bin: number }[];
    await connection.end();
    return {
      version: `MariaDB ${row?.version}, innodb_flush_log_at_trx_commit ${row?.flush}, log_bin ${row?.log_bin}`,
      open: () => createMysqlDatabase(server.url),
      [Symbol.asyncDispose]: () => server.close(),
    };
  },
};
