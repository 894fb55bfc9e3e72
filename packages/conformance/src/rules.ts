/**
 * The rules that cases check, in a sentence each. docs/protocol.md explains them as one story: each has its anchor there,
 * `docs/protocol.md#<id>`.
 */
export const RULES = {
  abilities: 'A driver has the six methods, all methods of an ability or none, and the abilities its harness promises.',
  'push-id': 'push resolves to the id of the new job.',
  'push-columns': "A push writes every column: attempts 0, last_error '', created_at now, available_at now + delay.",
  'any-name': 'Only Queue knows handlers: a driver takes any name within the limits.',
  'text-limits':
    'Queue 1–64 characters (code points), name and unique key 1–190; no control characters, no lone surrogates, no ' +
    'leading or trailing white space. Checked before the store is touched.',
  'worker-cut': 'reserved_by is the worker id, cut to 64 characters.',
  'byte-for-byte': 'Queue, name and unique key are compared byte for byte.',
  'plain-values':
    'Every value from a caller is checked to be plain text or a whole number before it reaches a client: a QueueError.',
  numbers:
    'Any safe integer is accepted; one below its floor (delay 0, maxAttempts 1, limit 1) is raised to it. NaN, ' +
    'Infinity, fractions and what is no number are a QueueError.',
  'payload-text': 'A payload is stored as compact JSON, unicode and slashes unescaped, and comes back the same.',
  'payload-strict':
    'What JSON would lose or change is refused before the store is touched: ' +
    '"A job payload has to be JSON encodable: <path>: <why>".',
  'payload-size': 'maxPayloadBytes (65,535 by default) counts UTF-8 bytes and is checked at push.',
  'payload-bytes': 'payloadJson is the stored text, byte for byte, in both stores.',
  undecodable:
    'A stored payload that is no object or array is failed at once, the attempt counted, with "Payload is not valid ' +
    'JSON, so no handler could be given it"; the reserve goes on.',
  'claim-rounds':
    'Each queue gets five rounds for each reserve; an undecodable payload uses up one. Then the next queue, or null.',
  'queue-order': 'reserve walks the queues in the order given and takes the first job it can.',
  'job-order': 'Within a queue: highest priority first, then earliest available_at, then lowest id.',
  due: 'A job is handed out when it is due, and not before.',
  exclusive: 'Two workers never hold one job.',
  attempt: 'Reserving is the attempt: the claim increments attempts, which rises with each and never falls.',
  'claim-expires': 'An expired claim is handed out again whatever max_attempts says: attempts + 1, reclaimed true.',
  'claim-length':
    'A delay or claim of n > 0 seconds never ends early: now + n rounded up, compared against now rounded down.',
  'zero-is-now': 'Zero means now, rounded down: due at once; a claim of 0 or less has already expired.',
  'claim-columns': 'A claim sets reserved_until, reserved_by and attempts + 1, nothing else.',
  'own-clock': 'Every time is the now option’s, in UTC: never the server’s clock or zone.',
  fence:
    'delete, release, fail and extend act only on the claim they are given: true when they acted, false when the claim ' +
    'was no longer the caller’s; never an error.',
  expired: 'An expired claim that nobody has taken over may still be finished or extended by its holder.',
  delete: 'The job is done: forget it.',
  release: 'release clears the claim and sets available_at and last_error; nothing else.',
  fail: 'fail moves a job to the failed store: queue, name, payload bytes, attempts and error survive; never in both stores.',
  'error-text':
    'An error over 60,000 UTF-8 bytes is cut to at most that on a character boundary, with "\\n... truncated" appended; ' +
    'in release and fail alike.',
  pending: 'pending counts what could be reserved right now: due, and not held by a live claim.',
  'unique-held': 'A key held by a job in the jobs table gives that job’s id and changes nothing on it.',
  'unique-freed': 'delete and fail free the key; release keeps it; retryFailed does not give it back.',
  'unique-race': 'The loser of a race for a key waits for its holder: its id, or a job of its own.',
  stats: 'stats: pending, delayed, reserved and total of each queue that holds anything, ordered by name.',
  'failed-rows': 'failedRows: the whole row, newest first (failed_at, then id, descending), at most limit.',
  'retry-failed':
    'retryFailed starts over: attempts 0, the given maxAttempts, priority 0, due and created now, no error, no key; same ' +
    "queue, name and payload bytes. 'all' means those there when it starts; none is requeued twice.",
  'forget-failed': "forgetFailed deletes by id, by failed_at < before (strictly), or 'all'; returns how many.",
  selectors: 'A selection of failed jobs in any other form is a QueueError, and changes nothing.',
  'push-many':
    'pushMany: all or nothing, ids in the order given; a key held already, or twice in the list, gives the holder’s id.',
  'reserve-many': 'reserveMany: as limit reserves would, never more than limit.',
  'reclaimed-alone': 'A job taken over from an expired claim comes alone: the batch ends before it, or is it.',
  'delete-many': 'deleteMany deletes all whose claims still hold and resolves to the ones lost.',
  turnover:
    'deleteAndReserve: as deleteMany, and then reserveMany; what the call deletes it never hands out, though its claim ' +
    'may have expired.',
  extend: 'extend: a live claim of ours now ends timeout seconds from now.',
  'extend-many': 'extendMany extends all whose claims still hold and resolves to the ones lost.',
  within: 'What is done within a transaction happens if, and only if, that commits.',
  'tx-usable': 'A duplicate key or bad input leaves the caller’s transaction usable.',
  'tx-refused': 'What is no transaction, a pool above all, is a QueueError.',
  'plain-apart': 'Only within and pushSync are part of a transaction of the caller’s; a plain call never is.',
  'sync-push': 'pushSync pushes before it returns, in whatever transaction is open on the connection.',
  wakeups: 'wake is called soon after a push to one of the queues, by anybody, until it is disposed of.',
  inspection: 'find tells all that is stored of a job, its state, and how many go before it.',
  'find-failed': 'findFailed tells all that is stored of a failed job.',
  'bare-row': 'Every rule works on a row that has only the columns a table requires.',
  'large-ids': 'Ids are JavaScript numbers, correct up to 2^53 − 1.',
  schema: 'schema gives the SQL that creates both tables, and ends by pointing at `q forget --before=YYYY-MM-DD`.',
  scratch: 'scratch gives an empty, throw-away twin on the same server.',
  diagnosis: 'diagnose tells what was found, each finding with what to do about it, and changes nothing.',
} as const satisfies Readonly<Record<string, string>>;

export type RuleId = keyof typeof RULES;
