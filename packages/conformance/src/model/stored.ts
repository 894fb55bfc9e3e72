import type { FailedJob } from '@q/core';
import type { JobRow } from '../harness.js';
import { same } from './compare.js';
import type { KnownPush, Ledger } from './ledger.js';
import { secondOf } from './time.js';

/** What is stored when a round is over, in both stores. */
export interface Stored {
  readonly rows: readonly JobRow[];
  readonly failed: readonly FailedJob[];
}

/** Asserts what is true of everything that is stored, whoever went first. */
export function judgeStored(ledger: Ledger, stored: Stored): void {
  for (const row of stored.rows) ledger.saw(row);
  for (const row of stored.rows) tellsItsLastClaim(row, ledger);
  for (const push of ledger.pushes) isInOnePlace(push, ledger, stored);
  const keys = stored.rows.flatMap(({ unique }) => unique ?? []);
  same('whether each key is held by one job', new Set(keys).size, keys.length);
  same('how many jobs were requeued, and are there', ledger.countRequeued(), ledger.requeued);
}

/** How many of the rows could be reserved. */
export function countPending(rows: readonly JobRow[], clock: Date): number {
  const now = secondOf(clock);
  return rows.filter(({ availableAt, reservedUntil }) => {
    return secondOf(availableAt) <= now && (reservedUntil === null || secondOf(reservedUntil) <= now);
  }).length;
}

/** The attempts of a row count the claims that were given, and its deadline is the last one's. */
function tellsItsLastClaim({ id, attempts, reservedUntil }: JobRow, ledger: Ledger): void {
  const claims = ledger.claimsOn(id);
  same(`the attempts stored of job ${id}`, attempts, claims.length);
  const last = claims.at(-1);
  const isHeld = last !== undefined && last.end === null;
  same(`whether job ${id} is stored as claimed`, reservedUntil !== null, isHeld);
  if (!isHeld || reservedUntil === null) return;
  const until = secondOf(reservedUntil);
  if (!last.deadlines.includes(until)) same(`when the claim on job ${id} ends`, until, last.deadlines);
}

/** A job is among the jobs, failed or deleted: one of the three, and once. A push that found its key held stored none. */
function isInOnePlace(push: KnownPush, ledger: Ledger, { rows, failed }: Stored): void {
  const { payloadJson, id, job } = push;
  const places = [
    ...rows.filter((row) => row.payloadJson === payloadJson).map(() => 'among the jobs'),
    ...failed.filter((row) => row.payloadJson === payloadJson).map(() => 'failed'),
    ...(ledger.wasDeleted(payloadJson) ? ['deleted'] : []),
  ];
  const holder = ledger.payloadOf(id);
  const isStored = holder === payloadJson;
  same(`in how many places the job ${payloadJson} is (${places.join(', ')})`, places.length, isStored ? 1 : 0);
  if (isStored) return;
  const key = ledger.pushOf(holder ?? '')?.job.unique;
  same(`the key of job ${id}, which a push under the key ${job.unique} was given for its holder`, key, job.unique);
}
