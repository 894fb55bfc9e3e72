import { isQueueError } from '@q/core';
import { RedisDriver } from '@q/driver-redis';
import { Redis } from 'ioredis';
import type { Client, ClientOptions } from './client.js';

/** The prefix is the fragment of the URL. */
export function connectRedis(url: string, { now, callTimeout }: ClientOptions): Client {
  const { prefix, template } = templateOf(url);
  const driver = new RedisDriver(template, { prefix, now, callTimeout, onWarning: () => {} });
  return {
    driver,
    transactions: null,
    isRefusal: (error) => isQueueError(error, 'store_unavailable') || (error as Error)?.name === 'ReplyError',
    admitsDoubt: (error) => isQueueError(error, 'outcome_unknown') || isQueueError(error, 'call_timeout'),
    async close() {
      await driver.close();
      template.disconnect();
    },
  };
}

/** A client that is never connected: the driver opens its own. */
function templateOf(url: string): { readonly prefix: string; readonly template: Redis } {
  const server = new URL(url);
  const prefix = server.hash.slice(1);
  server.hash = '';
  return { prefix, template: new Redis(server.href, { lazyConnect: true, connectTimeout: 5_000 }) };
}
