import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';

/** The connection beneath a library's transaction. Throws `invalid_transaction` where the library runs on something else. */
export function checkBeneath(adapter: string, value: unknown): MysqlTransaction {
  // The cast: any object may be asked for any property.
  const connection = value as Readonly<Record<string, unknown>> | null | undefined;
  const isPool = typeof connection?.getConnection === 'function';
  if (!isPool && typeof connection?.query === 'function' && typeof connection.beginTransaction === 'function') {
    // The cast: these methods are a connection's.
    return value as MysqlTransaction;
  }
  throw new QueueError(
    'invalid_transaction',
    `${adapter} of @q/driver-mysql takes a transaction on a connection of mysql2; beneath the one given is ${kindOf(value)}`,
  );
}
