import { quotedTable, schemaName } from './table-names.js';

export type StatementName = keyof StatementTexts;
export type StatementTexts = ReturnType<typeof statementTexts>;

/**
 * Every statement of the driver, in full, in the order of a job's life. The texts depend on the table names alone and
 * are built once per driver. Values are bound by name; times are whole seconds of UTC as text, which sorts as time does.
 *
 * The bounds on `id` leave alone the rows that a JavaScript number cannot name: 2^53 − 1 is the last that it can. `+id`
 * keeps SQLite from walking the ids because of them, where another index has the order.
 */
export function statementTexts(names: { readonly table: string; readonly failedTable: string }) {
  const jobs = quotedTable(names.table);
  const failed = quotedTable(names.failedTable);
  const jobsSchema = `"${schemaName(names.table)}"`;
  const failedSchema = `"${schemaName(names.failedTable)}"`;

  return {
    // IMMEDIATE: a transaction that begins as a reader and then writes can be refused for good, whatever the timeout.
    begin: 'BEGIN IMMEDIATE',
    commit: 'COMMIT',
    rollback: 'ROLLBACK',

    insertJob: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      VALUES (:queue, :name, :payload, 0, :maxAttempts, :priority, :unique, :availableAt, '', :now)
      ON CONFLICT (unique_key) DO NOTHING
      RETURNING id`,

    findByUnique: `
      SELECT id FROM ${jobs} WHERE unique_key = :unique`,

    // Takes back an insert where the transaction is the caller's, and so not ours to roll back.
    deleteInserted: `
      DELETE FROM ${jobs} WHERE id = :id`,

    // The level walk. Priorities are visited one by one, highest first, each by one jump in the index: a million
    // delayed jobs of a higher priority are stepped over, not read.
    topPriority: `
      SELECT max(priority) AS priority FROM ${jobs} WHERE queue = :queue`,

    nextPriority: `
      SELECT max(priority) AS priority FROM ${jobs} WHERE queue = :queue AND priority < :priority`,

    candidates: `
      SELECT id, name, payload, attempts, max_attempts, reserved_until FROM ${jobs}
      WHERE queue = :queue AND priority = :priority AND available_at <= :now
        AND (reserved_until IS NULL OR reserved_until <= :now)
        AND +id BETWEEN -9007199254740991 AND 9007199254740991
      ORDER BY available_at, id
      LIMIT :limit`,

    // The candidate was read under the write lock of this same transaction: only the guard is needed, not `attempts`.
    claim: `
      UPDATE ${jobs} SET reserved_until = :until, reserved_by = :worker, attempts = attempts + 1
      WHERE id = :id AND (reserved_until IS NULL OR reserved_until <= :now)`,

    deleteClaim: `
      DELETE FROM ${jobs} WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    release: `
      UPDATE ${jobs} SET reserved_until = NULL, reserved_by = NULL, available_at = :availableAt, last_error = :error
      WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    // The row is copied by the database, so its payload cannot change on the way.
    insertFailed: `
      INSERT INTO ${failed} (queue, name, payload, attempts, error, failed_at)
      SELECT queue, name, payload, attempts, :error, :now FROM ${jobs}
      WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    extend: `
      UPDATE ${jobs} SET reserved_until = :until
      WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    pending: `
      SELECT count(*) AS pending FROM ${jobs}
      WHERE available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now)
        AND +id BETWEEN -9007199254740991 AND 9007199254740991`,

    pendingInQueue: `
      SELECT count(*) AS pending FROM ${jobs}
      WHERE queue = :queue AND available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now)
        AND +id BETWEEN -9007199254740991 AND 9007199254740991`,

    stats: `
      SELECT queue,
        count(*) FILTER (WHERE available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now)) AS pending,
        count(*) FILTER (WHERE available_at > :now) AS delayed,
        count(*) FILTER (WHERE reserved_until > :now) AS reserved,
        count(*) AS total
      FROM ${jobs} GROUP BY queue ORDER BY queue`,

    failedCount: `
      SELECT count(*) AS failed FROM ${failed}`,

    failedRows: `
      SELECT id, failed_at, queue, name, payload, attempts, error FROM ${failed}
      WHERE +id BETWEEN -9007199254740991 AND 9007199254740991
      ORDER BY failed_at DESC, id DESC
      LIMIT :limit`,

    lastFailedId: `
      SELECT max(id) AS id FROM ${failed} WHERE id <= 9007199254740991`,

    failedIds: `
      SELECT id FROM ${failed} WHERE id > :after AND id <= :last ORDER BY id LIMIT :limit`,

    requeueFailed: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      SELECT queue, name, payload, 0, :maxAttempts, 0, NULL, :now, '', :now FROM ${failed} WHERE id = :id
      RETURNING id, queue`,

    deleteFailed: `
      DELETE FROM ${failed} WHERE id = :id`,

    forgetFailedBefore: `
      DELETE FROM ${failed} WHERE failed_at < :before`,

    forgetAllFailed: `
      DELETE FROM ${failed}`,

    findJob: `
      SELECT job.id, job.queue, job.name, job.payload, job.attempts, job.max_attempts, job.priority, job.unique_key,
        job.available_at, job.reserved_until, job.reserved_by, job.last_error, job.created_at,
        (SELECT count(*) FROM ${jobs} AS other
          WHERE other.queue = job.queue AND other.available_at <= :now
            AND (other.reserved_until IS NULL OR other.reserved_until <= :now)
            AND +other.id BETWEEN -9007199254740991 AND 9007199254740991
            AND (other.priority > job.priority OR (other.priority = job.priority
              AND (other.available_at, other.id) < (job.available_at, job.id)))) AS ahead
      FROM ${jobs} AS job WHERE job.id = :id`,

    findFailed: `
      SELECT id, failed_at, queue, name, payload, attempts, error FROM ${failed} WHERE id = :id`,

    // For the warning about rows that no claim takes.
    findStranded: `
      SELECT id FROM ${jobs} WHERE id > 9007199254740991 LIMIT 1`,

    // For wakeups: changes with every commit of another connection, and costs next to nothing to read.
    dataVersion: `
      PRAGMA ${jobsSchema}.data_version`,

    // For wakeups: ids only rise, so a higher one than before was pushed since.
    newestJob: `
      SELECT max(id) AS id FROM ${jobs}`,

    // For a clear error: what is missing is asked for, never read out of SQLite's message.
    findTables: `
      SELECT name FROM ${jobsSchema}.sqlite_master WHERE type IN ('table', 'view') AND name = :table COLLATE NOCASE
      UNION ALL
      SELECT name FROM ${failedSchema}.sqlite_master WHERE type IN ('table', 'view') AND name = :failedTable COLLATE NOCASE`,

    // For a scratch twin, which leaves nothing behind.
    dropJobs: `
      DROP TABLE IF EXISTS ${jobs}`,

    dropFailed: `
      DROP TABLE IF EXISTS ${failed}`,
  };
}
