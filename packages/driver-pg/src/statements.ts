import { channelOf, quotedTable } from './table-names.js';

export type StatementName = keyof StatementTexts;
export type StatementTexts = ReturnType<typeof statementTexts>;

/**
 * Every statement of the driver, in full, in the order of a job's life. The texts depend on the table names alone and
 * are built once per driver. Values are bound as text, and cast here; what is read comes back as text too. So neither the
 * type parsers of the application nor the session's zone and date style are ever asked. Times are whole seconds of UTC.
 *
 * None is prepared by name and none needs the session it ran in before: a pooler may give each another connection.
 *
 * The bounds on `id` leave alone the rows that a JavaScript number cannot name: 2^53 − 1 is the last that it can.
 */
export function statementTexts(names: { readonly table: string; readonly failedTable: string }) {
  const jobs = quotedTable(names.table);
  const failed = quotedTable(names.failedTable);
  const channel = `'${channelOf(names.table)}'`;

  // The candidates of a claim, and how they are claimed. `isExpired`: whether one that is claimed may be taken over.
  // `before`: what has to have happened before any is locked.
  const locked = ({ isExpired, before = 'true' }: { isExpired: string; before?: string }) => `locked AS MATERIALIZED (
        SELECT candidate.id, candidate.reserved_until IS NOT NULL AS reclaimed, row_number() OVER () AS place
        FROM (
          SELECT found.* FROM unnest($1::text[]) WITH ORDINALITY AS wanted(queue, place)
          CROSS JOIN LATERAL (
            WITH RECURSIVE level(priority) AS (
              (SELECT max(priority) FROM ${jobs} WHERE queue = wanted.queue)
              UNION ALL
              SELECT (SELECT max(priority) FROM ${jobs} WHERE queue = wanted.queue AND priority < level.priority)
              FROM level WHERE level.priority IS NOT NULL)
            SELECT due.* FROM level
            CROSS JOIN LATERAL (
              SELECT id, reserved_until FROM ${jobs}
              WHERE queue = wanted.queue AND priority = level.priority AND available_at <= $2::timestamptz
                AND (reserved_until IS NULL OR ${isExpired})
                AND id BETWEEN -9007199254740991 AND 9007199254740991
              ORDER BY available_at, id
              LIMIT $5::int
              FOR UPDATE SKIP LOCKED) AS due
          WHERE ${before}) AS found
          LIMIT $5::int) AS candidate)`;
  const claimLocked = `UPDATE ${jobs} AS job
      SET reserved_until = $3::timestamptz, reserved_by = $4::text, attempts = job.attempts + 1
      WHERE job.id = ANY(ARRAY(
          SELECT id FROM locked
          WHERE place < (SELECT coalesce(min(place), $5::int + 1) FROM locked WHERE reclaimed)
            OR (place = 1 AND $6::boolean)))
        AND (job.reserved_until IS NULL OR job.reserved_until <= $2::timestamptz)
      RETURNING job.id::text AS id, job.queue, job.name, job.payload, job.attempts::text AS attempts,
        job.max_attempts::text AS max_attempts, job.priority::text AS priority,
        to_char(job.available_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS available_at,
        (job.id = ANY(ARRAY(SELECT id FROM locked WHERE place = 1 AND reclaimed)))::text AS reclaimed`;

  return {
    // Said here, since the application's default may be another: above READ COMMITTED a key that is held by a transaction
    // which commits meanwhile is an error, not an answer.
    begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
    commit: 'COMMIT',
    rollback: 'ROLLBACK',

    // DO NOTHING: a failed statement would cost a caller its transaction, and DO UPDATE would lock the holder against its
    // own completion. The holder is read by a second statement, since this one cannot see what is committed while it waits.
    insertJob: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      VALUES ($1::text, $2::text, $3::text, 0, $4::int, $5::int, $6::text, $7::timestamptz, '', $8::timestamptz)
      ON CONFLICT (unique_key) DO NOTHING
      RETURNING id::text AS id`,

    // The same, and the wakeup with it: whoever listens hears of the job when it is committed, and never if it is not.
    insertJobAndNotify: `
      WITH stored AS (
        INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
          created_at)
        VALUES ($1::text, $2::text, $3::text, 0, $4::int, $5::int, $6::text, $7::timestamptz, '', $8::timestamptz)
        ON CONFLICT (unique_key) DO NOTHING
        RETURNING id)
      SELECT id::text AS id, pg_notify(${channel}, $1::text)::text AS notified FROM stored`,

    // With ORDER BY, ids are given in that order: so ids in ascending order are the jobs in the order of the list.
    insertJobs: `
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      SELECT queue, name, payload, 0, max_attempts, priority, unique_key, available_at, '', $8::timestamptz
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[], $7::timestamptz[]) WITH ORDINALITY
        AS job(queue, name, payload, max_attempts, priority, unique_key, available_at, place)
      ORDER BY place
      ON CONFLICT (unique_key) DO NOTHING
      RETURNING id::text AS id, unique_key`,

    findByUnique: `
      SELECT id::text AS id, unique_key FROM ${jobs} WHERE unique_key = ANY($1::text[])`,

    notify: `
      SELECT pg_notify(${channel}, queue)::text AS notified FROM unnest($1::text[]) AS pushed(queue)`,

    // Takes back an insert whose id no JavaScript number can hold, or where the rest of a batch was refused.
    deleteInserted: `
      DELETE FROM ${jobs} WHERE id = ANY($1::bigint[])`,

    // The whole claim. Queues are visited in the order given, and in each the priorities one by one, highest first, each
    // by one jump in the index: a million delayed jobs of a higher priority are stepped over, not read. Nothing further is
    // looked at, or locked, once there are enough.
    //
    // A CTE and ARRAY(…) are evaluated once, whatever the planner believes of the table. With IN (SELECT … LIMIT …) it may
    // evaluate the list anew for each row, and take more than was asked for.
    //
    // The rows are locked, so the guard of the UPDATE holds by itself; it is there because correctness rests on it alone.
    // A job taken over from an expired claim ends the batch before it, or is all of it ($6: whether it may be).
    claim: `
      WITH ${locked({ isExpired: 'reserved_until <= $2::timestamptz' })}
      ${claimLocked}`,

    // The same, with a batch of claims deleted by the same statement. Both parts see the table as it was before: without the
    // exclusion a claim that is deleted here, though it has expired, would be a candidate, and its completion be lost.
    // It deletes first: of two that had locked candidates, each could wait to delete what the other has locked.
    deleteAndClaim: `
      WITH deleted AS (
        DELETE FROM ${jobs} AS job USING unnest($7::bigint[], $8::bigint[]) AS claim(id, attempts)
        WHERE job.id = claim.id AND job.attempts = claim.attempts AND job.reserved_until IS NOT NULL
        RETURNING job.id, job.attempts),
      ${locked({
        isExpired: '(reserved_until <= $2::timestamptz AND id <> ALL(ARRAY(SELECT id FROM deleted)))',
        before: '(SELECT count(*) FROM deleted) >= 0',
      })},
      claimed AS (
      ${claimLocked})
      SELECT * FROM claimed
      UNION ALL
      SELECT claim.id::text, NULL, NULL, NULL, claim.attempts::text, NULL, NULL, NULL, NULL
      FROM unnest($7::bigint[], $8::bigint[]) AS claim(id, attempts)
      WHERE NOT EXISTS (SELECT FROM deleted WHERE deleted.id = claim.id AND deleted.attempts = claim.attempts)`,

    deleteClaim: `
      DELETE FROM ${jobs} WHERE id = $1::bigint AND attempts = $2::bigint AND reserved_until IS NOT NULL`,

    deleteClaims: `
      DELETE FROM ${jobs} AS job USING unnest($1::bigint[], $2::bigint[]) AS claim(id, attempts)
      WHERE job.id = claim.id AND job.attempts = claim.attempts AND job.reserved_until IS NOT NULL
      RETURNING job.id::text AS id, job.attempts::text AS attempts`,

    release: `
      UPDATE ${jobs} SET reserved_until = NULL, reserved_by = NULL, available_at = $3::timestamptz, last_error = $4::text
      WHERE id = $1::bigint AND attempts = $2::bigint AND reserved_until IS NOT NULL`,

    // One statement, so one transaction: the row is in one table or in the other. It is moved by the database, so its
    // payload cannot change on the way.
    fail: `
      WITH claimed AS (
        DELETE FROM ${jobs} WHERE id = $1::bigint AND attempts = $2::bigint AND reserved_until IS NOT NULL
        RETURNING queue, name, payload, attempts)
      INSERT INTO ${failed} (queue, name, payload, attempts, error, failed_at)
      SELECT queue, name, payload, attempts, $3::text, $4::timestamptz FROM claimed`,

    extend: `
      UPDATE ${jobs} SET reserved_until = $3::timestamptz
      WHERE id = $1::bigint AND attempts = $2::bigint AND reserved_until IS NOT NULL`,

    extendMany: `
      UPDATE ${jobs} AS job SET reserved_until = $3::timestamptz
      FROM unnest($1::bigint[], $2::bigint[]) AS claim(id, attempts)
      WHERE job.id = claim.id AND job.attempts = claim.attempts AND job.reserved_until IS NOT NULL
      RETURNING job.id::text AS id, job.attempts::text AS attempts`,

    pending: `
      SELECT count(*)::text AS pending FROM ${jobs}
      WHERE available_at <= $1::timestamptz AND (reserved_until IS NULL OR reserved_until <= $1::timestamptz)
        AND id BETWEEN -9007199254740991 AND 9007199254740991`,

    pendingInQueue: `
      SELECT count(*)::text AS pending FROM ${jobs}
      WHERE queue = $2::text AND available_at <= $1::timestamptz
        AND (reserved_until IS NULL OR reserved_until <= $1::timestamptz)
        AND id BETWEEN -9007199254740991 AND 9007199254740991`,

    // COLLATE "C": by bytes, whatever language the database sorts in.
    stats: `
      SELECT queue,
        (count(*) FILTER (WHERE available_at <= $1::timestamptz
          AND (reserved_until IS NULL OR reserved_until <= $1::timestamptz)))::text AS pending,
        (count(*) FILTER (WHERE available_at > $1::timestamptz))::text AS delayed,
        (count(*) FILTER (WHERE reserved_until > $1::timestamptz))::text AS reserved,
        count(*)::text AS total
      FROM ${jobs} GROUP BY queue ORDER BY queue COLLATE "C"`,

    failedCount: `
      SELECT count(*)::text AS failed FROM ${failed}`,

    failedRows: `
      SELECT id::text AS id, to_char(failed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS failed_at,
        queue, name, payload, attempts::text AS attempts, error
      FROM ${failed} AS failure
      WHERE failure.id BETWEEN -9007199254740991 AND 9007199254740991
      ORDER BY failure.failed_at DESC, failure.id DESC
      LIMIT $1::bigint`,

    lastFailedId: `
      SELECT max(id)::text AS id FROM ${failed} WHERE id <= 9007199254740991`,

    failedIds: `
      SELECT id::text AS id FROM ${failed} AS failure
      WHERE failure.id > $1::bigint AND failure.id <= $2::bigint ORDER BY failure.id LIMIT $3::int`,

    // One statement, so one transaction: of two who requeue a row at once, one finds it.
    requeueFailed: `
      WITH taken AS (DELETE FROM ${failed} WHERE id = $1::bigint RETURNING queue, name, payload)
      INSERT INTO ${jobs} (queue, name, payload, attempts, max_attempts, priority, unique_key, available_at, last_error,
        created_at)
      SELECT queue, name, payload, 0, $2::int, 0, NULL, $3::timestamptz, '', $3::timestamptz FROM taken
      RETURNING id::text AS id, queue`,

    deleteFailed: `
      DELETE FROM ${failed} WHERE id = $1::bigint`,

    forgetFailedBefore: `
      DELETE FROM ${failed} WHERE failed_at < $1::timestamptz`,

    forgetAllFailed: `
      DELETE FROM ${failed}`,

    findJob: `
      SELECT job.id::text AS id, job.queue, job.name, job.payload, job.attempts::text AS attempts,
        job.max_attempts::text AS max_attempts, job.priority::text AS priority, job.unique_key,
        to_char(job.available_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS available_at,
        to_char(job.reserved_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS reserved_until,
        job.reserved_by, job.last_error,
        to_char(job.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS created_at,
        CASE WHEN job.reserved_until > $2::timestamptz THEN 'reserved'
          WHEN job.available_at > $2::timestamptz THEN 'delayed'
          WHEN job.reserved_until IS NULL THEN 'pending' ELSE 'expired' END AS state,
        (SELECT count(*) FROM ${jobs} AS other
          WHERE other.queue = job.queue AND other.available_at <= $2::timestamptz
            AND (other.reserved_until IS NULL OR other.reserved_until <= $2::timestamptz)
            AND other.id BETWEEN -9007199254740991 AND 9007199254740991
            AND (other.priority > job.priority OR (other.priority = job.priority
              AND (other.available_at, other.id) < (job.available_at, job.id))))::text AS ahead
      FROM ${jobs} AS job WHERE job.id = $1::bigint`,

    findFailed: `
      SELECT id::text AS id, to_char(failed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS failed_at,
        queue, name, payload, attempts::text AS attempts, error
      FROM ${failed} AS failure WHERE failure.id = $1::bigint`,

    // For the warning about rows that no claim takes: one look at the end of the index.
    findStranded: `
      SELECT (max(id) > 9007199254740991)::text AS found FROM ${jobs}`,

    // For wakeups, on a connection of the driver's own.
    listen: `LISTEN "${channelOf(names.table)}"`,

    // Whether this connection is the server's to the end: behind a pooler its process is not the one that was announced.
    sessionProcess: `
      SELECT pg_backend_pid()::text AS process`,

    // Whether a connection that was silent still lives, and still listens.
    isListening: `
      SELECT (${channel} = ANY(ARRAY(SELECT pg_listening_channels())))::text AS listening`,

    // Whether a connection of the pool can be used, after another one could not.
    probe: `
      SELECT current_setting('transaction_read_only') AS read_only`,

    // For a clear error: what is missing is asked for, never read out of the server's message.
    findTables: `
      SELECT (to_regclass($1::text) IS NOT NULL AND to_regclass($2::text) IS NOT NULL)::text AS found`,

    // IF NOT EXISTS is not safe against another who creates at the same moment: of processes that start together each
    // waits here for the one before. It ends with the transaction.
    lockTables: `
      SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))::text AS locked`,

    // For a scratch twin, which leaves nothing behind.
    dropJobs: `DROP TABLE IF EXISTS ${jobs}`,
    dropFailed: `DROP TABLE IF EXISTS ${failed}`,
  };
}
