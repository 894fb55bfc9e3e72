import type { Claim, ReservedJob } from '../driver.js';
import { QueueError } from '../errors.js';
import { checkInteger, checkLimit, checkQueues, checkTimeout, checkWorker, kindOf } from '../limits.js';
import { decodePayload } from '../payload.js';

/**
 * How often a `reserve` tries one queue. No candidate ends the queue at once; a lost race or an undecodable payload uses
 * up one round and goes on. Bounded, so that a queue of broken rows cannot hold a worker for ever.
 */
export const CLAIM_ROUNDS = 5;

/** What a reserve asks for, checked. */
export interface ClaimRequest {
  readonly queues: readonly string[];
  readonly limit: number;
  /** Seconds. */
  readonly timeout: number;
  readonly worker: string;
}

/** What a reserve was called with, checked. Throws `invalid_text`, `invalid_number` or `invalid_option`. */
export function claimRequest(queues: readonly string[], limit: number, timeout: number, worker: string): ClaimRequest {
  return {
    queues: checkQueues(queues),
    limit: checkLimit(limit),
    timeout: checkTimeout(timeout),
    worker: checkWorker(worker),
  };
}

/** A claimed row as a store gives it, in the contract's words. */
export interface ClaimedRow {
  readonly id: number;
  readonly handle: string;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  /** This claim included. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly reclaimed: boolean;
}

/** The job in a claimed row, or null where its payload does not decode: such a row is to be failed at once. */
export function reservedJob(row: ClaimedRow): ReservedJob | null {
  const payload = decodePayload(row.payloadJson);
  return payload === null ? null : { ...row, payload };
}

/** The fence of a claim a caller hands back: plain numbers and text, so that nothing else reaches a client. */
export function checkClaim(claim: Claim): Claim {
  if (typeof claim !== 'object' || claim === null) {
    throw new QueueError('invalid_option', `A claim has to be a job that was reserved; got ${kindOf(claim)}`);
  }
  if (typeof claim.handle !== 'string') {
    throw new QueueError('invalid_text', `The handle of a claim has to be text; got ${kindOf(claim.handle)}`);
  }
  return {
    id: checkInteger('The id of a claim', claim.id),
    attempts: checkInteger('The attempt of a claim', claim.attempts),
    handle: claim.handle,
  };
}

/** The claims of a batch. */
export function checkClaims<C extends Claim>(claims: readonly C[]): readonly C[] {
  if (!Array.isArray(claims)) {
    throw new QueueError('invalid_option', `The claims have to be a list; got ${kindOf(claims)}`);
  }
  for (const claim of claims) checkClaim(claim);
  return claims;
}
