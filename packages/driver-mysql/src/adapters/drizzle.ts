import { notATransaction } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';
import { checkBeneath } from './refusals.js';

/** What `db.transaction` of drizzle-orm/mysql2 gives its callback, nested or not. The `db` itself is not one. */
export interface DrizzleTransaction {
  rollback(): never;
}

/** The connection that the transaction runs on. Throws `invalid_transaction`, for the `db` above all. */
export function fromDrizzle(tx: DrizzleTransaction): MysqlTransaction {
  // The cast: Drizzle's types hide the session.
  const { rollback, session } = (tx ?? {}) as { readonly rollback?: unknown; readonly session?: { client?: unknown } };
  if (typeof rollback !== 'function' || typeof session !== 'object' || session === null) {
    throw notATransaction('fromDrizzle', 'the tx that db.transaction gives its callback, not the db', tx);
  }
  return checkBeneath('fromDrizzle', session.client);
}
