/// <reference types="node" preserve="true" />
/**
 * `@q/core/driver-kit`: for authors of drivers, ours and strangers'. What every driver has to do in the same way; how to
 * use it is told in docs/writing-a-driver.md, why it is so in docs/protocol.md.
 */

export {
  checkDelay,
  checkInteger,
  checkLimit,
  checkMaxAttempts,
  checkPriority,
  checkQueues,
  checkText,
  checkTimeout,
  checkUnique,
  checkWake,
  checkWorker,
  kindOf,
  TEXT_LIMITS,
} from '../limits.js';
export {
  DEFAULT_MAX_PAYLOAD_BYTES,
  decodePayload,
  encodePayload,
  MAX_PAYLOAD_DEPTH,
  UNDECODABLE_PAYLOAD,
} from '../payload.js';
export {
  CLAIM_ROUNDS,
  type ClaimedRow,
  type ClaimRequest,
  checkClaim,
  checkClaims,
  claimRequest,
  reservedJob,
} from './claims.js';
export { clockFinding } from './clock-finding.js';
export { MAX_ERROR_BYTES, trimErrorText } from './error-text.js';
export { type EncodedJob, encodeJob, encodeJobs } from './new-job.js';
export { notATransaction } from './not-a-transaction.js';
export { type DriverOptions, type SettledDriverOptions, settleOptions } from './options.js';
export { checkForgetSelection, checkRetrySelection } from './selectors.js';
export { parseStamp, secondsAfter, secondsAt, secondsUpTo, stamp } from './stamps.js';
export {
  type FoundColumn,
  type FoundTable,
  grantFinding,
  type TableTemplate,
  tableFindings,
} from './table-findings.js';
export { assertTableName, bareTableName } from './table-name.js';
