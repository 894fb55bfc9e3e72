import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';
import { isDatabase, type SqliteDatabase } from '../database.js';

/** The error for what is no transaction of the adapter's library: `wanted` says what is, and where one gets it. */
export function notATransaction(adapter: string, wanted: string, value: unknown): QueueError {
  return new QueueError('invalid_transaction', `${adapter} takes ${wanted}; got ${kindOf(value)}`);
}

/** The Database beneath a library's transaction. Throws `invalid_transaction` where the library runs on something else. */
export function checkBeneath(adapter: string, value: unknown): SqliteDatabase {
  if (isDatabase(value)) return value;
  throw new QueueError(
    'invalid_transaction',
    `${adapter} of @q/driver-sqlite takes a transaction on better-sqlite3; beneath the one given is ${kindOf(value)}`,
  );
}
