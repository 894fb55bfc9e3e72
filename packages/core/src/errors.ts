/**
 * Every error that q itself throws, in one table. A `QueueError` is news about a queue that was configured or called
 * wrongly, or a store that cannot be reached; a job that failed is never one (its error is a row in the failed table).
 */
export const QUEUE_ERROR_CODES = {
  ability_missing: 'The driver cannot do what was asked of it.',
  call_timeout: 'The store did not answer within its deadline; what became of the call is unknown.',
  claim_lost: 'The claim had expired and was taken over, so the job is no longer the caller’s to complete.',
  handler_invalid: 'An entry of the handler registry is not a handler, or did not give one.',
  handler_name_missing: 'A push or a lookup was given no handler name.',
  handler_unknown: 'Nothing is registered under the name.',
  id_out_of_range: 'The store gave an id above 2^53 − 1, which a JavaScript number cannot hold.',
  invalid_number: 'A number is not a safe integer.',
  invalid_option: 'An option, or an argument that is neither text nor a number, is not what it has to be.',
  invalid_selector: 'A selection of failed jobs is not one of the forms allowed.',
  invalid_table_name: 'A table name is not plain letters, digits and underscores.',
  invalid_text: 'A queue, name, unique key or worker is not text within the limits.',
  invalid_transaction: 'What was given as a transaction is not one, or none is open on it.',
  job_settled: 'A job was completed and released, which exclude each other.',
  outcome_unknown: 'The connection was lost after the call was sent: it may or may not have taken effect.',
  payload_not_json: 'A payload holds something that JSON would lose or change.',
  payload_too_large: 'The payload’s JSON is longer than `maxPayloadBytes`.',
  store_busy: 'The store stayed locked by somebody else for the whole of the call’s deadline.',
  store_unavailable: 'The store cannot be used: unreachable, closed, too old, or without its tables.',
  transaction_open: 'A plain push was made beside an open transaction, which the guard of the Queue refuses.',
  worker_running: 'The worker is running already.',
} as const;

export type QueueErrorCode = keyof typeof QUEUE_ERROR_CODES;

// Two copies of core may meet in one process (a driver installed beside another version): recognised by this mark,
// never by `instanceof`.
const QUEUE_ERROR = Symbol.for('@q/core/QueueError');

/** A queue that was configured or called wrongly, or whose store cannot be used. `code` is stable, the message is not. */
export class QueueError extends Error {
  override readonly name: string = 'QueueError';
  readonly code: QueueErrorCode;

  constructor(code: QueueErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, QUEUE_ERROR, { value: true });
  }
}

/** Thrown by `job.complete(tx)` when the claim is gone, so that the caller's transaction rolls back. */
export class ClaimLost extends QueueError {
  override readonly name = 'ClaimLost';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('claim_lost', message, options);
  }
}

/** Whether `error` is a `QueueError` of any copy of core, and, where `code` is given, of that code. */
export function isQueueError(error: unknown, code?: QueueErrorCode): error is QueueError {
  if (typeof error !== 'object' || error === null) return false;
  const candidate = error as { readonly [QUEUE_ERROR]?: unknown; readonly code?: unknown };
  try {
    return candidate[QUEUE_ERROR] === true && (code === undefined || candidate.code === code);
  } catch {
    return false; // a Proxy that will not say
  }
}

/** Why a running job's `signal` was aborted: its `reason` is one of these, told apart by `code`. */
export class JobAborted extends Error {
  override readonly name = 'JobAborted';
  readonly code: 'timeout' | 'shutdown' | 'claim_lost';

  constructor(code: 'timeout' | 'shutdown' | 'claim_lost', message: string) {
    super(message);
    this.code = code;
  }
}
