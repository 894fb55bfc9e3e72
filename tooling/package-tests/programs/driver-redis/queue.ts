import { Queue } from '@q/core';
import { RedisDriver } from '@q/driver-redis';
import { Redis } from 'ioredis';
import { handlers } from './handlers.js';

export async function openQueue(url: string) {
  const redis = new Redis(url);
  const driver = new RedisDriver(redis);
  const close = async () => {
    await driver.close();
    await redis.quit();
  };
  return { queue: new Queue({ driver, handlers }), close };
}
