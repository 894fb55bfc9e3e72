import { QueueError } from '@q/core';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const READ_ONLY = '25006';
const UNDEFINED_TABLE = '42P01';

/** Whether a statement of the queue's own lost a race, and may be sent again. */
export function isLostRace(error: unknown): boolean {
  return isOf(error, [SERIALIZATION_FAILURE, DEADLOCK]);
}

/** Whether a transaction met what happened after its snapshot was taken: at READ COMMITTED it would not have. */
export function isSerializationFailure(error: unknown): boolean {
  return isOf(error, [SERIALIZATION_FAILURE]);
}

/**
 * Whether the connection is as good as before. Not where the client failed rather than the statement, where the server
 * is going away, and where the node takes no writes: it was demoted, and every connection to it would say the same.
 */
export function isHarmless(error: unknown): boolean {
  const code = sqlState(error);
  return code !== null && !code.startsWith('08') && !code.startsWith('57P') && code !== READ_ONLY;
}

export function isUndefinedTable(error: unknown): boolean {
  return isOf(error, [UNDEFINED_TABLE]);
}

/** The error for tables that are not there. */
export function missingTables(cause: unknown, tables: string): QueueError {
  return new QueueError(
    'store_unavailable',
    `The tables ${tables} are not there. Apply the migration that \`q install\` writes, or call createTables()`,
    { cause },
  );
}

export function closedDriver(): QueueError {
  return new QueueError('store_unavailable', 'This PgDriver was closed');
}

export function callTimedOut(seconds: number): QueueError {
  return new QueueError(
    'call_timeout',
    `Postgres did not answer within ${seconds} s (callTimeout); what became of the call is unknown`,
  );
}

export function noConnection(seconds: number): QueueError {
  return new QueueError(
    'call_timeout',
    `The pool gave no connection within ${seconds} s (callTimeout): all are in use, or the server cannot be reached`,
  );
}

/** Marks an error that cost the application its transaction. The error itself is passed on untouched. */
export function markTransactionLost(error: unknown): void {
  if (!isLostRace(error) || typeof error !== 'object' || error === null) return;
  Object.defineProperty(error, 'transactionLost', { value: true, configurable: true });
}

function isOf(error: unknown, codes: readonly string[]): boolean {
  const code = sqlState(error);
  return code !== null && codes.includes(code);
}

/** Five characters that the server sends with each of its errors; null for any other error. */
function sqlState(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('severity' in error)) return null;
  return typeof error.code === 'string' && error.code.length === 5 ? error.code : null;
}
