import { notATransaction } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';
import { checkBeneath } from './refusals.js';

/** What `knex.transaction` gives its callback, or resolves to; nested or not. The `knex` itself is not one. */
export interface KnexTransaction {
  isCompleted(): boolean;
  readonly client: { acquireConnection(): Promise<unknown> };
}

/** Resolves to the connection that the transaction runs on. Rejects with `invalid_transaction`, for the `knex` above all. */
export async function fromKnex(trx: KnexTransaction): Promise<MysqlTransaction> {
  // The knex itself would give a connection too, and wait for it to be given back. The cast: what knex's types leave out.
  const { isTransaction } = (trx ?? {}) as { readonly isTransaction?: boolean };
  if (isTransaction !== true || trx.isCompleted()) {
    throw notATransaction('fromKnex', 'the trx that knex.transaction gives its callback, not yet completed', trx);
  }
  return checkBeneath('fromKnex', await trx.client.acquireConnection());
}
