import { QueueError } from '@q/core';

/** The given connection is in the middle of something of the application's: to be waited out, like a lock. */
export class ConnectionInUse extends Error {
  override readonly name = 'ConnectionInUse';
}

/** Whether the same call may succeed a moment later, because somebody else is at the database. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ConnectionInUse || isOf(sqliteCode(error), ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'])
  );
}

const UNUSABLE: Readonly<Record<string, string>> = {
  SQLITE_READONLY: 'cannot be written: the file, its directory or the connection given is read-only',
  SQLITE_CANTOPEN: 'cannot be opened: check that the file is there and that this process may use its directory',
  SQLITE_NOTADB: 'is not a database, or is an encrypted one, which a second connection cannot open',
  SQLITE_PERM: 'cannot be used: this process lacks the permission',
};

/** The error for a file that cannot be used as it is, or null where the error says something else. */
export function unusable(error: unknown, file: string): QueueError | null {
  const found = Object.keys(UNUSABLE).find((code) => isOf(sqliteCode(error), [code]));
  if (found === undefined) return null;
  return new QueueError('store_unavailable', `${file} ${UNUSABLE[found]}`, { cause: error });
}

/** The error for tables that are not there, or null where they are. SQLite has no code of its own for that. */
export function missingTables(error: unknown, areThere: () => boolean, tables: string): QueueError | null {
  if (sqliteCode(error) !== 'SQLITE_ERROR') return null;
  try {
    if (areThere()) return null;
  } catch {
    return null; // what is known is the first error
  }
  return new QueueError(
    'store_unavailable',
    `The tables ${tables} are not there. Apply the migration that \`q install\` writes, or call createTables()`,
    { cause: error },
  );
}

export function closedDriver(): QueueError {
  return new QueueError('store_unavailable', 'This SqliteDriver was closed');
}

export function closedDatabase(): QueueError {
  return new QueueError('store_unavailable', 'The Database that SqliteDriver was given has been closed');
}

/**
 * Marks an error that cost the application its transaction (a full disk, a trigger's RAISE(ROLLBACK)); after any other the
 * transaction is still usable. The error itself is passed on untouched.
 */
export function markTransactionLost(error: unknown): void {
  if (typeof error !== 'object' || error === null) return;
  Object.defineProperty(error, 'transactionLost', { value: true, configurable: true });
}

/** better-sqlite3 gives SQLite's extended code as text; `''` for what is no SQLite error. */
function sqliteCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** Whether a code is one of these, or an extended form of one: `SQLITE_BUSY_SNAPSHOT` is a `SQLITE_BUSY`. */
function isOf(code: string, primary: readonly string[]): boolean {
  return primary.some((one) => code === one || code.startsWith(`${one}_`));
}
