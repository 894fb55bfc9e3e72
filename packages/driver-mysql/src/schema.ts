import { assertTableName } from '@q/core/driver-kit';
import { quotedIndex, quotedTable } from './table-names.js';

interface Names {
  readonly table: string;
  readonly failedTable: string;
}

/**
 * The SQL that creates the two tables. Whoever runs it twice changes nothing. Throws `invalid_table_name`.
 */
export function schema(names: Names): string {
  const [jobs, failed] = tables(names);
  return `\
-- The tables of q, for MySQL 5.7 or later and MariaDB 10.3 or later.
--
-- What an older server costs: before MySQL 8.0 and MariaDB 10.6 there is no SKIP LOCKED, so workers that reach for the same
-- job race for it, and all but one try again. That costs throughput with many workers, and never correctness. Before MySQL
-- 8.0 and MariaDB 10.8 the DESC of an index is read and ignored, which costs nothing here.
--
-- For replication the server needs binlog_format ROW or MIXED: with STATEMENT it refuses the claim (error 1665).
--
-- Two tables, not one with a status column: a finished job is deleted, so the first stays the size of the backlog, never
-- of history, and claiming from it stays quick. A job out of attempts moves to the second, where a human finds it.
--
-- Their names carry a prefix because "jobs" is a word an application wants for itself.
--
-- A text holds 65,535 bytes, as many as a payload may have (maxPayloadBytes). Whoever raises that wants mediumtext, for the
-- payload in both tables.

${jobs};

${failed};

-- Nothing prunes the table of failed jobs: how long they are kept is the application's decision.
-- To delete the old ones: q forget --before=YYYY-MM-DD
`;
}

/** The statements of the schema one by one: a connection takes several at a time only where the application allows it. */
export function tables(names: Names): readonly [jobs: string, failed: string] {
  const table = assertTableName(names.table);
  const failedTable = assertTableName(names.failedTable);
  return [
    `\
CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (
  id bigint unsigned NOT NULL AUTO_INCREMENT,
  queue varchar(64) NOT NULL DEFAULT 'default',
  name varchar(190) NOT NULL,
  payload text NOT NULL, -- JSON as it was pushed: the type json would change it
  attempts int NOT NULL DEFAULT 0, -- counted by the claim, not by the failure
  max_attempts int NOT NULL DEFAULT 3,
  priority int NOT NULL DEFAULT 0,
  unique_key varchar(190) DEFAULT NULL, -- 190 characters of utf8mb4 are what InnoDB can index everywhere
  available_at datetime NOT NULL, -- every time is UTC; a timestamp would depend on the zone of the session
  reserved_until datetime DEFAULT NULL, -- a deadline, not a lock: the job of a worker that died becomes claimable by itself
  reserved_by varchar(64) DEFAULT NULL, -- for the person looking at a stuck row; nothing reads it back
  last_error text NOT NULL,
  created_at datetime NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY ${quotedIndex(table, 'unique_key')} (unique_key),
  -- The candidate query written down column by column. The reservation is left out: it discards few rows, and a nullable
  -- column would only keep the index from serving the order. The claim names this index, so its name is not free.
  KEY ${quotedIndex(table, 'reserve')} (queue, priority DESC, available_at, id)
-- utf8mb4_bin: queues, names and keys are compared byte for byte, so that A and a are two.
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
    `\
CREATE TABLE IF NOT EXISTS ${quotedTable(failedTable)} (
  id bigint unsigned NOT NULL AUTO_INCREMENT,
  queue varchar(64) NOT NULL DEFAULT '',
  name varchar(190) NOT NULL,
  payload text NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  error text NOT NULL,
  failed_at datetime NOT NULL,
  PRIMARY KEY (id),
  KEY ${quotedIndex(failedTable, 'failed_at')} (failed_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin`,
  ];
}
