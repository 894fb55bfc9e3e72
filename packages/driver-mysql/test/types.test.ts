import { defineHandlers, type Handler, handler, type Job, Queue } from '@q/core';
import type callbacks from 'mysql2';
import mysql from 'mysql2/promise';
import type oldCallbacks from 'mysql2-oldest';
import type oldest from 'mysql2-oldest/promise';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type MysqlConnection, MysqlDriver, type MysqlPool } from '../src/index.js';
import { aPool, open, useDatabase } from './fixtures.js';

const database = useDatabase();
const handlers = defineHandlers({ ping: handler(async (_: { readonly id: number }) => {}) });

describe('the types', () => {
  it('take pools and connections of mysql2, of either flavour and of any copy of it', () => {
    expectTypeOf<mysql.Pool>().toExtend<MysqlPool>();
    expectTypeOf<callbacks.Pool>().toExtend<MysqlPool>();
    expectTypeOf<oldest.Pool>().toExtend<MysqlPool>();
    expectTypeOf<oldCallbacks.Pool>().toExtend<MysqlPool>();
    expectTypeOf<mysql.Connection>().toExtend<MysqlConnection>();
    expectTypeOf<mysql.PoolConnection>().toExtend<MysqlConnection>();
    expectTypeOf<callbacks.Connection>().toExtend<MysqlConnection>();
    expectTypeOf<callbacks.PoolConnection>().toExtend<MysqlConnection>();
    expectTypeOf<oldest.PoolConnection>().toExtend<MysqlConnection>();
    expectTypeOf<oldCallbacks.PoolConnection>().toExtend<MysqlConnection>();
    expectTypeOf<mysql.Pool>().not.toExtend<MysqlConnection>();
    expectTypeOf<callbacks.Pool>().not.toExtend<MysqlConnection>();
    expectTypeOf<oldest.Pool>().not.toExtend<MysqlConnection>();
    expectTypeOf<mysql.Connection>().not.toExtend<MysqlPool>();
    expectTypeOf<callbacks.Connection>().not.toExtend<MysqlPool>();
  });

  it('give a Queue what the driver can do, and let it work', async () => {
    const { driver, pool } = await open(database.url());
    const queue = new Queue({ driver, handlers });
    expect(await queue.push('ping', { id: 1 })).toBe(1);
    expect(await queue.pushMany([{ name: 'ping', payload: { id: 2 } }])).toStrictEqual([2]);
    expect(await queue.reports.stats()).toMatchObject([{ queue: 'default', total: 2 }]);
    // @ts-expect-error mysql2 is asynchronous
    expect(queue.pushSync).toBeUndefined();
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    expect(await queue.within(connection).push('ping', { id: 3 })).toBe(3);
    await connection.rollback();
    connection.release();
    expect(await queue.pending()).toBe(2);
  });

  it('refuse a pool where a transaction is wanted, and a connection where a pool is', async () => {
    const { driver, pool } = await open(database.url());
    const queue = new Queue({ driver, handlers });
    // @ts-expect-error a pool hands each statement to another connection
    expect(() => queue.within(pool)).toThrow(expect.objectContaining({ code: 'invalid_transaction' }));
    const connection = await mysql.createConnection(database.url());
    // @ts-expect-error nor is a connection a pool
    expect(() => new MysqlDriver(connection)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    await connection.end();
  });

  it('let a handler complete its job on a connection of the application’s', async () => {
    class Booking implements Handler<{ readonly id: number }, MysqlConnection> {
      async handle(_: { readonly id: number }, job: Job<{ readonly id: number }, MysqlConnection>) {
        expectTypeOf(job.complete).toBeCallableWith({} as mysql.PoolConnection);
        expectTypeOf(job.complete).toBeCallableWith({} as callbacks.Connection);
      }
    }
    const driver = new MysqlDriver(aPool(database.url()));
    const queue = new Queue({ driver, handlers: defineHandlers({ book: Booking }) });
    expect(queue).toBeDefined();
    await driver.close();
  });
});
