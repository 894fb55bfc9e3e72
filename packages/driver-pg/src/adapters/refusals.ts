import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';
import type { PgTransaction } from '../client.js';

/** The client beneath a library's transaction. Throws `invalid_transaction` where the library runs on something else. */
export function checkBeneath(adapter: string, value: unknown): PgTransaction {
  // The cast: any object may be asked for any property.
  const client = value as Readonly<Record<string, unknown>> | null | undefined;
  const isPool = typeof client?.connect === 'function' && typeof client.totalCount === 'number';
  if (!isPool && typeof client?.query === 'function' && typeof client.escapeIdentifier === 'function') {
    // The cast: these methods are a client's.
    return value as PgTransaction;
  }
  throw new QueueError(
    'invalid_transaction',
    `${adapter} of @q/driver-pg takes a transaction on a client of pg; beneath the one given is ${kindOf(value)}`,
  );
}
