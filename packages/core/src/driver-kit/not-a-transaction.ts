import { QueueError } from '../errors.js';
import { kindOf } from '../limits.js';

/**
 * For the adapter of a library: the error (`invalid_transaction`) for what is no transaction of it. `wanted` says what is,
 * and where one gets it.
 */
export function notATransaction(adapter: string, wanted: string, value: unknown): QueueError {
  return new QueueError('invalid_transaction', `${adapter} takes ${wanted}; got ${kindOf(value)}`);
}
