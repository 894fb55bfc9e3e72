import { QueueError } from '@q/core';
import { type DriverOptions, kindOf, type SettledDriverOptions, settleOptions } from '@q/core/driver-kit';
import { checkPrefix } from './keys.js';

export interface RedisDriverOptions extends DriverOptions {
  /**
   * What the keys of the queue begin with, as a hash tag: `{queue}:…`. One prefix is one slot of a cluster, and knows
   * nothing of any other. Default `queue`.
   */
  readonly prefix?: string;
}

export interface SettledRedisOptions extends SettledDriverOptions {
  readonly prefix: string;
}

/** The options with their defaults, checked. */
export function settleRedisOptions(options: RedisDriverOptions): SettledRedisOptions {
  if (typeof options !== 'object' || options === null) {
    throw new QueueError('invalid_option', `The options of RedisDriver have to be an object; got ${kindOf(options)}`);
  }
  return { ...settleOptions(options, 'RedisDriver'), prefix: checkPrefix(options.prefix ?? 'queue') };
}
