import { defineHandlers, type Handler, handler, type Job, Queue } from '@q/core';
import type pg from 'pg';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { PgDriver, type PgPool, type PgTransaction } from '../src/index.js';
import { open, useDatabase } from './fixtures.js';

const database = useDatabase();

/** Another copy of the client, whose classes the compiler holds for a stranger's. */
declare class OtherClient {
  private readonly secret: number;
  query(config: {
    text: string;
    values?: unknown[];
    types?: { getTypeParser(oid: number): (text: string) => unknown };
  }): Promise<{
    rows: unknown[];
    rowCount: number | null;
  }>;
  escapeIdentifier(text: string): string;
  on(event: string, listener: (error: Error) => void): this;
  removeListener(event: string, listener: (error: Error) => void): this;
  release(error?: Error | boolean): void;
}
declare class OtherPool {
  private readonly secret: number;
  readonly totalCount: number;
  readonly idleCount: number;
  readonly options: { max: number };
  connect(): Promise<OtherClient>;
}

const handlers = defineHandlers({ ping: handler(async (_: { readonly id: number }) => {}) });

describe('the types', () => {
  it('take pools and clients of pg, of any copy of it', () => {
    expectTypeOf<pg.Pool>().toExtend<PgPool>();
    expectTypeOf<OtherPool>().toExtend<PgPool>();
    expectTypeOf<pg.Client>().toExtend<PgTransaction>();
    expectTypeOf<pg.PoolClient>().toExtend<PgTransaction>();
    expectTypeOf<pg.ClientBase>().toExtend<PgTransaction>();
    expectTypeOf<OtherClient>().toExtend<PgTransaction>();
    expectTypeOf<pg.Pool>().not.toExtend<PgTransaction>();
    expectTypeOf<OtherPool>().not.toExtend<PgTransaction>();
  });

  it('give a Queue what the driver can do, and let it work', async () => {
    const { driver, pool } = await open(database.url());
    const queue = new Queue({ driver, handlers });
    expect(await queue.push('ping', { id: 1 })).toBe(1);
    expect(await queue.pushMany([{ name: 'ping', payload: { id: 2 } }])).toStrictEqual([2]);
    expect(await queue.reports.stats()).toMatchObject([{ queue: 'default', total: 2 }]);
    // @ts-expect-error pg is asynchronous
    expect(queue.pushSync).toBeUndefined();
    const client = await pool.connect();
    await client.query('BEGIN');
    expect(await queue.within(client).push('ping', { id: 3 })).toBe(3);
    await client.query('ROLLBACK');
    client.release();
    expect(await queue.pending()).toBe(2);
  });

  it('refuse a pool where a transaction is wanted', async () => {
    const { driver, pool } = await open(database.url());
    const queue = new Queue({ driver, handlers });
    // @ts-expect-error a pool hands each statement to another connection
    expect(() => queue.within(pool)).toThrow(expect.objectContaining({ code: 'invalid_transaction' }));
    // @ts-expect-error nor is a client a pool
    expect(() => new PgDriver({} as pg.Client)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('let a handler complete its job on a client of the application’s', () => {
    class Booking implements Handler<{ readonly id: number }, PgTransaction> {
      async handle(_: { readonly id: number }, job: Job<{ readonly id: number }, PgTransaction>) {
        const client = {} as pg.PoolClient;
        expectTypeOf(job.complete).toBeCallableWith(client);
      }
    }
    const driver = {} as PgDriver;
    expectTypeOf(() => new Queue({ driver, handlers: defineHandlers({ book: Booking }) })).toBeFunction();
  });
});
