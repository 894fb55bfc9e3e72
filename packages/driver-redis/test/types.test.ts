import {
  abilitiesOf,
  defineHandlers,
  handler,
  hasReports,
  hasSchema,
  hasSyncPush,
  hasTransactions,
  Queue,
} from '@q/core';
import { type Cluster, Redis } from 'ioredis';
import { type Cluster as OldestCluster, Redis as OldestRedis } from 'ioredis-oldest';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { RedisDriver, type RedisTemplate } from '../src/index.js';
import { open } from './fixtures.js';

/** Another copy of the client, whose class the compiler holds for a stranger's. */
declare class OtherRedis {
  private readonly secret: number;
  readonly isCluster: false;
  readonly options: { host?: string };
  duplicate(override?: { lazyConnect?: boolean }): OtherRedis;
}

const handlers = defineHandlers({ ping: handler(async (_: { readonly id: number }) => {}) });

describe('the types', () => {
  it('take a Redis or a Cluster of ioredis, of any copy and version of it', () => {
    expectTypeOf<Redis>().toExtend<RedisTemplate>();
    expectTypeOf<Cluster>().toExtend<RedisTemplate>();
    expectTypeOf<OldestRedis>().toExtend<RedisTemplate>();
    expectTypeOf<OldestCluster>().toExtend<RedisTemplate>();
    expectTypeOf<OtherRedis>().toExtend<RedisTemplate>();
    for (const client of [new Redis({ lazyConnect: true }), new OldestRedis({ lazyConnect: true })]) {
      expect(new RedisDriver(client).prefix).toBe('queue');
      client.disconnect();
    }
  });

  it.each([null, undefined, {}, 'redis://', { duplicate: () => {} }, Redis])(
    'refuse what is no client (%s)',
    (value) => {
      // The cast: a caller without a type checker.
      const build = () => new RedisDriver(value as never);
      expect(build).toThrow('RedisDriver needs a Redis or Cluster of ioredis');
    },
  );

  it('give a Queue what the driver can do, and let it work', async () => {
    const queue = new Queue({ driver: open().driver, handlers });
    expect(await queue.push('ping', { id: 1 })).toBe(1);
    expect(await queue.pushMany([{ name: 'ping', payload: { id: 2 } }])).toStrictEqual([2]);
    expect(await queue.pending()).toBe(2);
  });

  it('give a Queue neither reports nor transactions, and the driver has none of their methods', () => {
    const { driver } = open();
    const queue = new Queue({ driver, handlers });
    // @ts-expect-error what it would take to list the backlog is not stored
    expect(queue.reports).toBeUndefined();
    // @ts-expect-error a push to Redis is in no transaction of the application's
    expect(queue.within).toBeUndefined();
    // @ts-expect-error ioredis is asynchronous
    expect(queue.pushSync).toBeUndefined();
    // @ts-expect-error
    expect([driver.stats, driver.schema]).toStrictEqual([undefined, undefined]);
    expect([hasReports(driver), hasTransactions(driver), hasSyncPush(driver), hasSchema(driver)]).toStrictEqual(
      Array(4).fill(false),
    );
    expect(abilitiesOf(driver)).toStrictEqual([
      'batches',
      'leases',
      'batchLeases',
      'wakeups',
      'inspection',
      'scratch',
      'diagnosis',
    ]);
  });

  it('let no handler be registered that completes its job in a transaction', () => {
    const { driver } = open();
    const completing = {
      book: handler<{ readonly id: number }, { query(): void }>(async (_, job) => job.complete({ query() {} })),
    };
    // @ts-expect-error this driver has no such transaction
    expect(() => new Queue({ driver, handlers: completing })).not.toThrow();
  });
});
