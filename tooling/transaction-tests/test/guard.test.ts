import { defineHandlers, handler, Queue } from '@q/core';
import { MysqlDriver } from '@q/driver-mysql';
import { PgDriver } from '@q/driver-pg';
import { SqliteDriver } from '@q/driver-sqlite';
import type {} from '@q/servers/vitest/mariadb';
import type {} from '@q/servers/vitest/postgres';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { openMysql, openPostgres, openSqlite } from '../src/stores.js';

const handlers = defineHandlers({ greet: handler((_: { readonly id: number }) => {}) });
const REFUSED = { code: 'transaction_open' };

/** Without a library: begun and ended in one function, which goes on in the same asynchronous context. */
describe('The push guard', { timeout: 120_000 }, () => {
  it('knows when a transaction on a client of pg has ended', async () => {
    await using store = await openPostgres(inject('postgres'));
    const pool = new pg.Pool({ connectionString: store.place });
    const queue = new Queue({ driver: new PgDriver(pool), handlers, guard: 'error' });
    const client = await pool.connect();
    for (const end of ['COMMIT', 'ROLLBACK']) {
      await client.query('BEGIN');
      await queue.within(client).push('greet', { id: 1 });
      await expect(queue.push('greet', { id: 2 })).rejects.toMatchObject(REFUSED);
      await client.query(end);
      await queue.push('greet', { id: 3 });
    }
    client.release();
    await queue.push('greet', { id: 4 });
    expect(await store.driver.pending()).toBe(4);
    await queue.driver.close();
    await pool.end();
  });

  it('knows when a transaction on a connection of mysql2 has ended', async () => {
    await using store = await openMysql(inject('mariadb'));
    const pool = mysql.createPool(store.place);
    const queue = new Queue({ driver: new MysqlDriver(pool), handlers, guard: 'error' });
    const connection = await pool.getConnection();
    for (const end of ['COMMIT', 'ROLLBACK']) {
      await connection.beginTransaction();
      await queue.within(connection).push('greet', { id: 1 });
      await expect(queue.push('greet', { id: 2 })).rejects.toMatchObject(REFUSED);
      await connection.query(end);
      await queue.push('greet', { id: 3 });
    }
    connection.destroy();
    await queue.push('greet', { id: 4 });
    expect(await store.driver.pending()).toBe(4);
    await queue.driver.close();
    await pool.end();
  });

  it('knows when a transaction on a Database of better-sqlite3 has ended', async () => {
    await using store = await openSqlite();
    const database = new Database(store.place);
    const queue = new Queue({ driver: new SqliteDriver(database), handlers, guard: 'error' });
    for (const end of ['COMMIT', 'ROLLBACK']) {
      database.exec('BEGIN IMMEDIATE');
      await queue.within(database).push('greet', { id: 1 });
      await expect(queue.push('greet', { id: 2 })).rejects.toMatchObject(REFUSED);
      database.exec(end);
      await queue.push('greet', { id: 3 });
    }
    await queue.push('greet', { id: 4 });
    expect(await store.driver.pending()).toBe(4);
    await queue.driver.close();
    database.close();
  });
});
