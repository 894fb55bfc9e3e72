import { defineHandlers, type Handler, handler, type Job, Queue } from '@q/core';
import Database from 'better-sqlite3';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type SqliteDatabase, SqliteDriver } from '../src/index.js';
import { open } from './fixtures.js';

/** Another copy of the client, whose class the compiler holds for a stranger's. */
declare class OtherDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  readonly readonly: boolean;
  private readonly secret: number;
  prepare(source: string): {
    safeIntegers(on?: boolean): unknown;
    run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
    all(...parameters: unknown[]): unknown[];
  };
  exec(source: string): this;
  close(): this;
}

const handlers = defineHandlers({ ping: handler(async (_: { readonly id: number }) => {}) });

describe('the types', () => {
  it('take a Database of better-sqlite3, of any copy of it', () => {
    expectTypeOf<Database.Database>().toExtend<SqliteDatabase>();
    expectTypeOf<OtherDatabase>().toExtend<SqliteDatabase>();
  });

  it('give a Queue what the driver can do, and let it work', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null });
    const queue = new Queue({ driver, handlers });
    expect(await queue.push('ping', { id: 1 })).toBe(1);
    expect(queue.pushSync('ping', { id: 2 })).toBe(2);
    expect(await queue.pushMany([{ name: 'ping', payload: { id: 3 } }])).toStrictEqual([3]);
    expect(await queue.reports.stats()).toMatchObject([{ queue: 'default', total: 3 }]);
    db.exec('BEGIN');
    expect(await queue.within(db).push('ping', { id: 4 })).toBe(4);
    db.exec('ROLLBACK');
    expect(await queue.pending()).toBe(3);
  });

  it('refuse what is no Database where a transaction is wanted', async () => {
    const { driver } = await open({ file: ':memory:', journal: null });
    const queue = new Queue({ driver, handlers });
    const pool = { connect: async () => ({}), query: async () => ({}), end: async () => {} };
    // @ts-expect-error a pool is not a Database
    expect(() => queue.within(pool)).toThrow(expect.objectContaining({ code: 'invalid_transaction' }));
    // @ts-expect-error nor is its path
    expect(() => new SqliteDriver('app.db')).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('let a handler complete its job on the application’s Database', async () => {
    class Booking implements Handler<{ readonly id: number }, SqliteDatabase> {
      async handle(_: { readonly id: number }, job: Job<{ readonly id: number }, SqliteDatabase>) {
        const db = new Database(':memory:');
        expectTypeOf(job.complete).toBeCallableWith(db);
        db.close();
      }
    }
    const { driver } = await open({ file: ':memory:', journal: null });
    expect(() => new Queue({ driver, handlers: defineHandlers({ booking: Booking }) })).not.toThrow();
  });
});
