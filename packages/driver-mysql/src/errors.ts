import { isQueueError, QueueError } from '@q/core';

const DUPLICATE_KEY = 1062;
const TABLE_DENIED = 1142;
const COLUMN_DENIED = 1143;
const NO_SUCH_TABLE = 1146;
const NO_SUCH_INDEX = 1176;
const DEADLOCK = 1213;
// A transaction is open already, so its isolation cannot be said any more.
const TRANSACTION_OPEN = 1568;
const BINLOG_IS_STATEMENT = 1665;
// MariaDB's at REPEATABLE READ, where innodb_snapshot_isolation is on: the row is newer than the snapshot.
const RECORD_CHANGED = 1020;

/** The node takes no writes: it was demoted, or has lost its cluster, and every connection to it would say the same. */
const READ_ONLY = [1047, 1290, 1792, 1836];

/** The server is about to end the connection: shutting down, a packet too large or garbled, killed, idle for too long. */
const CONNECTION_ENDING = [1053, 1152, 1153, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 4031];

/** Whether a statement of the queue's own lost a race, and may be sent again. */
export function isLostRace(error: unknown): boolean {
  return isOf(error, [DEADLOCK, RECORD_CHANGED]);
}

export function isDuplicateKey(error: unknown): boolean {
  return isOf(error, [DUPLICATE_KEY]);
}

export function isTransactionOpen(error: unknown): boolean {
  return isOf(error, [TRANSACTION_OPEN]);
}

/** Whether a deadlock has ended the transaction: nothing more may be sent in its place. */
export function isDeadlock(error: unknown): boolean {
  return isOf(error, [DEADLOCK]);
}

/** Whether the node takes no writes; the connection still answers. */
export function isReadOnly(error: unknown): boolean {
  return isOf(error, READ_ONLY);
}

/** Whether the user may not do this with the table. */
export function isDenied(error: unknown): boolean {
  return isOf(error, [TABLE_DENIED, COLUMN_DENIED]);
}

/**
 * Whether the connection is as good as before. Not where the client failed rather than the statement, where the server is
 * about to end it, and where the node takes no writes.
 */
export function leavesConnectionSound(error: unknown): boolean {
  if (isQueueError(error)) return error.code !== 'call_timeout';
  const number = errorNumber(error);
  return number !== null && !READ_ONLY.includes(number) && !CONNECTION_ENDING.includes(number) && !isFatal(error);
}

/** An error of the server's in the terms of q, where q knows what to do about it; any other as it is. */
export function explained(error: unknown, tables: string): unknown {
  if (isOf(error, [NO_SUCH_TABLE])) return missingTables(error, tables);
  if (isOf(error, [NO_SUCH_INDEX])) return missingIndex(error, tables);
  return isOf(error, [BINLOG_IS_STATEMENT]) ? statementBinlog(error) : error;
}

export function closedDriver(): QueueError {
  return new QueueError('store_unavailable', 'This MysqlDriver was closed');
}

export function callTimedOut(seconds: number): QueueError {
  return new QueueError(
    'call_timeout',
    `The server did not answer within ${seconds} s (callTimeout); what became of the call is unknown`,
  );
}

export function noConnection(seconds: number): QueueError {
  return new QueueError(
    'call_timeout',
    `The pool gave no connection within ${seconds} s (callTimeout): all are in use, or the server cannot be reached`,
  );
}

/** The error for a column that is smaller than the payloads the driver was told to take. */
export function payloadCut(bytes: number): QueueError {
  return new QueueError(
    'payload_too_large',
    `The column "payload" cannot hold the ${bytes} bytes of this payload. With maxPayloadBytes above 65,535 it has to be ` +
      'a mediumtext, in both tables. Nothing was stored',
  );
}

/** The error for rows that somebody claimed while this transaction had them locked. */
export function lockNotHeld(): QueueError {
  return new QueueError(
    'store_unavailable',
    'Jobs were claimed by somebody else while a transaction had them locked. Does a proxy send the statements of one ' +
      'transaction to several servers?',
  );
}

/** Marks an error that cost the application its transaction. The error itself is passed on untouched. */
export function markTransactionLost(error: unknown): void {
  if (typeof error !== 'object' || error === null) return;
  Object.defineProperty(error, 'transactionLost', { value: true, configurable: true });
}

function missingTables(cause: unknown, tables: string): QueueError {
  return new QueueError(
    'store_unavailable',
    `The tables ${tables} are not there. Apply the migration that \`q install\` writes, or call createTables()`,
    { cause },
  );
}

function missingIndex(cause: unknown, tables: string): QueueError {
  return new QueueError(
    'store_unavailable',
    `Of the tables ${tables} the first is without its index idx_<table>_reserve, which every claim goes by. \`q install\` ` +
      'writes a migration that has it',
    { cause },
  );
}

function statementBinlog(cause: unknown): QueueError {
  return new QueueError(
    'store_unavailable',
    'The server logs changes for replication by statement, in which it can log no transaction at READ COMMITTED, and the ' +
      'queue needs that: set binlog_format to ROW or MIXED',
    { cause },
  );
}

function isOf(error: unknown, numbers: readonly number[]): boolean {
  const number = errorNumber(error);
  return number !== null && numbers.includes(number);
}

/** The number that the server sends with each of its errors; null for any other error. Those of a socket are negative. */
function errorNumber(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('errno' in error)) return null;
  return typeof error.errno === 'number' && error.errno > 0 ? error.errno : null;
}

function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'fatal' in error && error.fatal === true;
}
