import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';
import { isDatabase, type SqliteDatabase } from '../database.js';

/** The Database beneath a library's transaction. Throws `invalid_transaction` where the library runs on something else. */
export function checkBeneath(adapter: string, value: unknown): SqliteDatabase {
  if (isDatabase(value)) return value;
  throw new QueueError(
    'invalid_transaction',
    `${adapter} of @q/driver-sqlite takes a transaction on better-sqlite3; beneath the one given is ${kindOf(value)}`,
  );
}
