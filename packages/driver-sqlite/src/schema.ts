import { assertTableName, bareTableName } from '@q/core/driver-kit';

/**
 * The SQL that creates the two tables. Whoever runs it twice changes nothing. Throws `invalid_table_name`.
 */
export function schema(names: { readonly table: string; readonly failedTable: string }): string {
  const table = assertTableName(names.table);
  const failedTable = assertTableName(names.failedTable);
  return `\
-- The tables of q, for SQLite. This is the development and test schema: SQLite has one writer at a time, so more workers
-- buy no more work. For production there are the schemas of Postgres and of MySQL, with the same columns.
--
-- Two tables, not one with a status column: a finished job is deleted, so the first stays the size of the backlog, never
-- of history, and claiming from it stays quick. A job out of attempts moves to the second, where a human finds it.
--
-- Their names carry a prefix because "jobs" is a word an application wants for itself.

CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- AUTOINCREMENT: an id is never given twice, so a claim names one job for ever
  queue TEXT NOT NULL DEFAULT 'default',
  name TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, -- counted by the claim, not by the failure
  max_attempts INTEGER NOT NULL DEFAULT 3,
  priority INTEGER NOT NULL DEFAULT 0,
  unique_key TEXT,
  available_at TEXT NOT NULL, -- every time is UTC, as YYYY-MM-DD HH:MM:SS
  reserved_until TEXT, -- a deadline, not a lock: the job of a worker that died becomes claimable by itself
  reserved_by TEXT, -- for the person looking at a stuck row; nothing reads it back
  last_error TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL
);

-- The candidate query written down column by column. The reservation is left out: it discards few rows, and a nullable
-- column would only keep the index from serving the order.
CREATE INDEX IF NOT EXISTS ${index(table, 'reserve')} ON "${bareTableName(table)}"
  (queue, priority DESC, available_at, id);

CREATE UNIQUE INDEX IF NOT EXISTS ${index(table, 'unique_key')} ON "${bareTableName(table)}" (unique_key);

CREATE TABLE IF NOT EXISTS ${quoted(failedTable)} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL DEFAULT '',
  name TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  failed_at TEXT NOT NULL
);

CREATE INDEX IF NOT EXISTS ${index(failedTable, 'failed_at')} ON "${bareTableName(failedTable)}" (failed_at DESC);

-- Nothing prunes the table of failed jobs: how long they are kept is the application's decision.
-- To delete the old ones: q forget --before=YYYY-MM-DD
`;
}

function quoted(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}

/** In SQLite an index is in its table's database, and it is the index's name, not the table's, that says which. */
function index(table: string, what: string): string {
  const bare = bareTableName(table);
  return quoted(`${table.slice(0, table.length - bare.length)}idx_${bare}_${what}`);
}
