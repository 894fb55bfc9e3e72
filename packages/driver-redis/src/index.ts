export type { RedisTemplate } from './client.js';
export type { RedisDriverOptions } from './options.js';
export { RedisDriver } from './redis-driver.js';
