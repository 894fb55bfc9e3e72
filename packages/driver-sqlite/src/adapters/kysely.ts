import { notATransaction } from '@q/core/driver-kit';
import type { SqliteDatabase } from '../database.js';
import { checkBeneath } from './refusals.js';

/** What `db.transaction().execute` gives its callback, or `db.startTransaction()` resolves to. The `db` is not one. */
export interface KyselyTransaction {
  readonly isTransaction: true;
}

/**
 * The `database` that Kysely's `SqliteDialect` was given, which Kysely keeps to itself: with `trx` as the sign that a
 * transaction is open on it. Throws `invalid_transaction`, for the `db` above all.
 */
export function fromKysely(trx: KyselyTransaction, database: SqliteDatabase): SqliteDatabase {
  if (trx?.isTransaction !== true) {
    throw notATransaction('fromKysely', 'the trx that db.transaction().execute gives its callback, not the db', trx);
  }
  return checkBeneath('fromKysely', database);
}
