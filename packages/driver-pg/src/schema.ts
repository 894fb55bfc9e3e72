import { assertTableName, bareTableName } from '@q/core/driver-kit';
import { quotedTable } from './table-names.js';

/**
 * The SQL that creates the two tables. Whoever runs it twice changes nothing. Throws `invalid_table_name`.
 */
export function schema(names: { readonly table: string; readonly failedTable: string }): string {
  const table = assertTableName(names.table);
  const failedTable = assertTableName(names.failedTable);
  return `\
-- The tables of q, for Postgres 12 or later.
--
-- Two tables, not one with a status column: a finished job is deleted, so the first stays the size of the backlog, never
-- of history, and claiming from it stays quick. A job out of attempts moves to the second, where a human finds it.
--
-- Their names carry a prefix because "jobs" is a word an application wants for itself.

CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (
  id bigserial PRIMARY KEY,
  queue varchar(64) NOT NULL DEFAULT 'default',
  name varchar(190) NOT NULL,
  payload text NOT NULL, -- JSON as it was pushed: jsonb would change it, and cannot hold every string
  attempts integer NOT NULL DEFAULT 0, -- counted by the claim, not by the failure
  max_attempts integer NOT NULL DEFAULT 3,
  priority integer NOT NULL DEFAULT 0,
  unique_key varchar(190),
  available_at timestamptz NOT NULL,
  reserved_until timestamptz, -- a deadline, not a lock: the job of a worker that died becomes claimable by itself
  reserved_by varchar(64), -- for the person looking at a stuck row; nothing reads it back
  last_error text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL
) WITH (
  -- A claim writes a new version of its row. With room on the same page, and no indexed column changed, no index is
  -- touched (a HOT update) and the room is used again at once. 45 measured best: every claim is one, and a backlog drains
  -- twice as fast as with 100.
  fillfactor = 45,
  -- Every job that is done is a dead row, however small the table stays. So vacuum goes by their number, not by a share of
  -- the table, and does not pause.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  -- Giving the empty end of the table back to the system takes a lock that claims would wait for; it is needed again soon.
  vacuum_truncate = false
);

-- The candidate query written down column by column. The reservation is left out: it discards few rows, and indexed it
-- would make every claim write to the index.
CREATE INDEX IF NOT EXISTS ${index(table, 'reserve')} ON ${quotedTable(table)}
  (queue, priority DESC, available_at, id);

CREATE UNIQUE INDEX IF NOT EXISTS ${index(table, 'unique_key')} ON ${quotedTable(table)} (unique_key);

CREATE TABLE IF NOT EXISTS ${quotedTable(failedTable)} (
  id bigserial PRIMARY KEY,
  queue varchar(64) NOT NULL DEFAULT '',
  name varchar(190) NOT NULL,
  payload text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  error text NOT NULL DEFAULT '',
  failed_at timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS ${index(failedTable, 'failed_at')} ON ${quotedTable(failedTable)} (failed_at DESC);

-- Nothing prunes the table of failed jobs: how long they are kept is the application's decision.
-- To delete the old ones: q forget --before=YYYY-MM-DD
`;
}

/** In Postgres an index is in its table's schema, and is created without naming it. */
function index(table: string, what: string): string {
  return `"idx_${bareTableName(table)}_${what}"`;
}
