import { quotedIndex, quotedTable } from './table-names.js';

export type StatementName = keyof StatementTexts;
export type StatementTexts = ReturnType<typeof statementTexts>;

/**
 * Every statement of the driver, in full, in the order of a job's life. The texts depend on the table names alone and
 * are built once per driver. Values are put in by name (literals.ts); times are whole seconds of UTC as text, which a
 * `datetime` keeps as they are, whatever the session's zone. What is read comes back as text: it is cast to binary first,
 * since a session whose character set has no emoji would get question marks.
 *
 * Nothing here is unsafe for replication: rows are chosen by a SELECT and changed by their ids, never by UPDATE … LIMIT,
 * DELETE … LIMIT or INSERT … SELECT. Every SELECT that may give several rows has a LIMIT of its own, since sql_select_limit
 * would cut it.
 *
 * The bounds on `id` leave alone the rows that a JavaScript number cannot name: 2^53 − 1 is the last that it can.
 */
export function statementTexts(names: { readonly table: string; readonly failedTable: string }) {
  const jobs = quotedTable(names.table);
  const failed = quotedTable(names.failedTable);
  const reserveIndex = quotedIndex(names.table, 'reserve');

  return {
    // For the next transaction alone. At REPEATABLE READ, the default, a claim would lock the gaps between the rows it
    // reads, and every insert would wait for it.
    readCommitted: 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
    begin: 'START TRANSACTION',
    // In full: by completion_type a plain COMMIT may begin another transaction, or end the connection.
    commit: 'COMMIT AND NO CHAIN NO RELEASE',
    rollback: 'ROLLBACK AND NO CHAIN NO RELEASE',

    // Nothing but a question: its answer says whether a transaction is open on the connection.
    state: 'DO 0',

    // A held key is error 1062. Not IGNORE, which would make every other error a warning, and not ON DUPLICATE KEY UPDATE,
    // which would lock the holder against its own completion.
    insertJob: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      VALUES (:queue, :name, :payload, :attempts, :maxAttempts, :priority, :unique, :availableAt, :error, :now)`,

    insertJobs: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      VALUES :rows`,

    // Several rows in one INSERT get ids at this distance, from the one that the server tells.
    idStep: `
      SELECT @@auto_increment_increment AS step`,

    // For payloads longer than a TEXT: where sql_mode is not strict the server would cut them, with a warning.
    storedBytes: `
      SELECT octet_length(payload) AS bytes FROM ${jobs} WHERE id = :id`,

    storedFailedBytes: `
      SELECT octet_length(payload) AS bytes FROM ${failed} WHERE id = :id`,

    findByUnique: `
      SELECT id FROM ${jobs} WHERE unique_key = :unique`,

    // In a transaction: a plain read there may not see a holder that was committed after its snapshot. The lock is the one
    // that the refused insert has taken already.
    findByUniqueLocked: `
      SELECT id FROM ${jobs} WHERE unique_key = :unique LOCK IN SHARE MODE`,

    // Takes back an insert where the transaction is the caller's, or there is none, and so not ours to roll back.
    deleteInserted: `
      DELETE job FROM (:ids) AS inserted STRAIGHT_JOIN ${jobs} AS job FORCE INDEX (PRIMARY) ON job.id = inserted.id`,

    // Asked once per driver, for what the claim may say.
    version: `
      SELECT CAST(version() AS BINARY) AS version`,

    // The level walk. Priorities are visited one by one, highest first, each by one jump in the index: a million
    // delayed jobs of a higher priority are stepped over, not read. Not max(priority): where the index is descending, the
    // servers read all of the queue for it. FORCE INDEX, here and below: of a table that is small, or that they believe to
    // be, the servers would read every row. For that reason MySQL walks all of an index too that has every column asked for;
    // `attempts` is one that it has not.
    topPriority: `
      SELECT priority, attempts FROM ${jobs} FORCE INDEX (${reserveIndex})
      WHERE queue = :queue ORDER BY priority DESC LIMIT 1`,

    nextPriority: `
      SELECT priority, attempts FROM ${jobs} FORCE INDEX (${reserveIndex})
      WHERE queue = :queue AND priority < :priority ORDER BY priority DESC LIMIT 1`,

    // One range of the index, in its order, so that what is locked is what is taken. Otherwise the servers may lock every row
    // and then sort, and whoever comes next finds nothing to take. Three forms; claim.ts tells when which.
    candidates: `
      SELECT id, CAST(name AS BINARY) AS name, CAST(payload AS BINARY) AS payload, attempts, max_attempts, reserved_until
      FROM ${jobs} FORCE INDEX (${reserveIndex})
      WHERE queue = :queue AND priority = :priority AND available_at <= :now
        AND (reserved_until IS NULL OR reserved_until <= :now)
        AND id <= 9007199254740991
      ORDER BY available_at, id
      LIMIT :limit`,

    candidatesSkippingLocked: `
      SELECT id, CAST(name AS BINARY) AS name, CAST(payload AS BINARY) AS payload, attempts, max_attempts, reserved_until
      FROM ${jobs} FORCE INDEX (${reserveIndex})
      WHERE queue = :queue AND priority = :priority AND available_at <= :now
        AND (reserved_until IS NULL OR reserved_until <= :now)
        AND id <= 9007199254740991
      ORDER BY available_at, id
      LIMIT :limit
      FOR UPDATE SKIP LOCKED`,

    candidatesWaiting: `
      SELECT id, CAST(name AS BINARY) AS name, CAST(payload AS BINARY) AS payload, attempts, max_attempts, reserved_until
      FROM ${jobs} FORCE INDEX (${reserveIndex})
      WHERE queue = :queue AND priority = :priority AND available_at <= :now
        AND (reserved_until IS NULL OR reserved_until <= :now)
        AND id <= 9007199254740991
      ORDER BY available_at, id
      LIMIT :limit
      FOR UPDATE`,

    // The candidate was not locked: somebody may have claimed it meanwhile, and released it into the future. So its attempt
    // and its time are checked again too, not only that nobody holds it.
    claim: `
      UPDATE ${jobs} SET reserved_until = :until, reserved_by = :worker, attempts = attempts + 1
      WHERE id = :id AND (reserved_until IS NULL OR reserved_until <= :now)
        AND attempts = :attempts AND available_at <= :now`,

    // The candidates are locked by this same transaction: the guard alone.
    claimLocked: `
      UPDATE ${jobs} FORCE INDEX (PRIMARY)
      SET reserved_until = :until, reserved_by = :worker, attempts = attempts + 1
      WHERE id IN (:ids) AND (reserved_until IS NULL OR reserved_until <= :now)`,

    deleteClaim: `
      DELETE FROM ${jobs} WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    release: `
      UPDATE ${jobs} SET reserved_until = NULL, reserved_by = NULL, available_at = :availableAt, last_error = :error
      WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL`,

    // Of several claims: which of them still hold. From here to the end of the transaction they do.
    lockClaims: `
      SELECT id, attempts FROM ${jobs} FORCE INDEX (PRIMARY)
      WHERE id IN (:ids) AND reserved_until IS NOT NULL
      ORDER BY id
      LIMIT :limit
      FOR UPDATE`,

    // A join, row by row by the primary key, because with id IN (…) the servers may read the whole table here too, and in a
    // DELETE take no notice of FORCE INDEX.
    deleteLocked: `
      DELETE job FROM (:ids) AS held STRAIGHT_JOIN ${jobs} AS job FORCE INDEX (PRIMARY) ON job.id = held.id`,

    // After lockClaims, not fenced by itself: a deadline that stays the same changes no row, and where the connection counts
    // changed rows instead of found ones, that would look like a lost claim.
    extendLocked: `
      UPDATE ${jobs} FORCE INDEX (PRIMARY) SET reserved_until = :until WHERE id IN (:ids)`,

    // Read and written again rather than INSERT … SELECT: into a table with AUTO_INCREMENT that is unsafe for replication by
    // statement.
    lockClaim: `
      SELECT CAST(queue AS BINARY) AS queue, CAST(name AS BINARY) AS name, CAST(payload AS BINARY) AS payload
      FROM ${jobs}
      WHERE id = :id AND attempts = :attempts AND reserved_until IS NOT NULL
      FOR UPDATE`,

    insertFailed: `
      INSERT INTO ${failed} (queue, name, payload, attempts, error, failed_at)
      VALUES (:queue, :name, :payload, :attempts, :error, :now)`,

    pending: `
      SELECT count(*) AS pending FROM ${jobs}
      WHERE available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now)
        AND id <= 9007199254740991`,

    pendingInQueue: `
      SELECT count(*) AS pending FROM ${jobs}
      WHERE queue = :queue AND available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now)
        AND id <= 9007199254740991`,

    stats: `
      SELECT CAST(job.queue AS BINARY) AS queue,
        count(CASE WHEN available_at <= :now AND (reserved_until IS NULL OR reserved_until <= :now) THEN 1 END) AS pending,
        count(CASE WHEN available_at > :now THEN 1 END) AS \`delayed\`,
        count(CASE WHEN reserved_until > :now THEN 1 END) AS reserved,
        count(*) AS total
      FROM ${jobs} AS job GROUP BY job.queue ORDER BY job.queue
      LIMIT 9007199254740991`,

    failedCount: `
      SELECT count(*) AS failed FROM ${failed}`,

    failedRows: `
      SELECT id, failed_at, CAST(queue AS BINARY) AS queue, CAST(name AS BINARY) AS name,
        CAST(payload AS BINARY) AS payload, attempts, CAST(error AS BINARY) AS error
      FROM ${failed}
      WHERE id <= 9007199254740991
      ORDER BY failed_at DESC, id DESC
      LIMIT :limit`,

    lastFailedId: `
      SELECT max(id) AS id FROM ${failed} WHERE id <= 9007199254740991`,

    failedIds: `
      SELECT id FROM ${failed} WHERE id > :after AND id <= :last ORDER BY id LIMIT :limit`,

    lockFailed: `
      SELECT CAST(queue AS BINARY) AS queue, CAST(name AS BINARY) AS name, CAST(payload AS BINARY) AS payload
      FROM ${failed} WHERE id = :id FOR UPDATE`,

    deleteFailed: `
      DELETE FROM ${failed} WHERE id = :id`,

    // Old failures are forgotten a page at a time: one DELETE of a million rows would outlast any deadline, and be undone.
    failedIdsBefore: `
      SELECT id FROM ${failed} WHERE failed_at < :before ORDER BY failed_at LIMIT :limit`,

    anyFailedIds: `
      SELECT id FROM ${failed} ORDER BY id LIMIT :limit`,

    deleteFailedPage: `
      DELETE failure FROM (:ids) AS page STRAIGHT_JOIN ${failed} AS failure FORCE INDEX (PRIMARY) ON failure.id = page.id`,

    findJob: `
      SELECT job.id, CAST(job.queue AS BINARY) AS queue, CAST(job.name AS BINARY) AS name,
        CAST(job.payload AS BINARY) AS payload, job.attempts, job.max_attempts, job.priority,
        CAST(job.unique_key AS BINARY) AS unique_key, job.available_at, job.reserved_until,
        CAST(job.reserved_by AS BINARY) AS reserved_by, CAST(job.last_error AS BINARY) AS last_error, job.created_at,
        (SELECT count(*) FROM ${jobs} AS other
          WHERE other.queue = job.queue AND other.available_at <= :now
            AND (other.reserved_until IS NULL OR other.reserved_until <= :now)
            AND other.id <= 9007199254740991
            AND (other.priority > job.priority OR (other.priority = job.priority
              AND (other.available_at, other.id) < (job.available_at, job.id)))) AS ahead
      FROM ${jobs} AS job WHERE job.id = :id`,

    findFailed: `
      SELECT id, failed_at, CAST(queue AS BINARY) AS queue, CAST(name AS BINARY) AS name,
        CAST(payload AS BINARY) AS payload, attempts, CAST(error AS BINARY) AS error
      FROM ${failed} WHERE id = :id`,

    // For the warning about rows that no claim takes.
    findStranded: `
      SELECT id FROM ${jobs} WHERE id > 9007199254740991 LIMIT 1`,

    // For wakeups: ids only rise, so a higher one than before was pushed since.
    newestJob: `
      SELECT max(id) AS id FROM ${jobs}`,

    newJobs: `
      SELECT id, CAST(queue AS BINARY) AS queue FROM ${jobs} WHERE id > :after ORDER BY id LIMIT :limit`,

    // Of processes that create the tables at the same moment each waits here for the one before.
    lockTables: `
      SELECT GET_LOCK('q.create_tables', :seconds) AS locked`,

    unlockTables: `
      SELECT RELEASE_LOCK('q.create_tables') AS unlocked`,

    // For a scratch twin, which leaves nothing behind.
    dropJobs: `
      DROP TABLE IF EXISTS ${jobs}`,

    dropFailed: `
      DROP TABLE IF EXISTS ${failed}`,
  };
}
