import type { Claim, ReservedJob, Turnover } from '@q/core';
import {
  CLAIM_ROUNDS,
  type ClaimRequest,
  checkClaim,
  checkClaims,
  reservedJob,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import { type ActedRow, type ClaimedRow, type LostRow, nowStamp, stampAfter } from './rows.js';
import type { Session, Value } from './session.js';

// What a limit may be in SQL, where 1 is added to it.
const MAX_LIMIT = 2_147_483_646;

/** How the rows of a round are claimed. */
type Send = (values: readonly Value[]) => Promise<ClaimedRow[]>;

/**
 * Claims up to `limit` jobs: one statement, unless payloads that do not decode are among them. `first` is what claims in
 * the first round.
 */
export async function claimJobs(
  session: Session,
  request: ClaimRequest,
  now: Date,
  first?: Send,
): Promise<ReservedJob[]> {
  const claim: Send = (values) => session.all<ClaimedRow>('claim', values);
  let send = first ?? claim;
  const rounds = new Map(request.queues.map((queue) => [queue, CLAIM_ROUNDS]));
  const claimed: ReservedJob[] = [];
  while (rounds.size > 0) {
    const wanted = Math.min(request.limit - claimed.length, MAX_LIMIT);
    const rows = await claimRows(send, { ...request, queues: [...rounds.keys()], limit: wanted }, now, claimed);
    send = claim;
    const jobs = await decode(session, rows, now);
    claimed.push(...jobs);
    if (claimed.length >= request.limit || claimed.at(-1)?.reclaimed) break;
    // Fewer than wanted: there are no more, or the next is one that has to come alone and may.
    if (rows.length < wanted && (rows.length === 0 || claimed.length > 0)) break;
    countRounds(rounds, rows, jobs);
  }
  return claimed;
}

/** Moves a claimed job to the failed table. 0: the claim does not hold, and nothing happened. */
export async function failClaim(session: Session, { id, attempts }: Claim, error: string, now: Date): Promise<number> {
  return session.run('fail', [id, attempts, error, nowStamp(now)]);
}

/** Acts on one claim, by a statement that changes one row or none. False: the claim does not hold. */
export async function actOnClaim(
  connection: Connection,
  claim: Claim,
  act: (session: Session, claim: Claim, now: Date) => Promise<number>,
): Promise<boolean> {
  const checked = checkClaim(claim);
  return connection.run(async (session, now) => (await act(session, checked, now)) === 1);
}

/** Acts on all claims in one statement, and resolves to those it refused: they are lost. */
export async function actOnClaims<C extends Claim>(
  connection: Connection,
  claims: readonly C[],
  act: (session: Session, ids: readonly number[], attempts: readonly number[], now: Date) => Promise<ActedRow[]>,
): Promise<C[]> {
  const checked = checkedCopies(claims);
  if (checked.length === 0) return [];
  const ids = checked.map(({ id }) => id);
  const attempts = checked.map((claim) => claim.attempts);
  const rows = await connection.run((session, now) => act(session, ids, attempts, now));
  const acted = new Set(rows.map((row) => `${row.id} ${row.attempts}`));
  return checked.filter((claim) => !acted.has(`${claim.id} ${claim.attempts}`)).map(({ original }) => original);
}

/** Deletes all claims that hold, and resolves to the others: they are lost. */
export async function deleteClaims<C extends Claim>(connection: Connection, claims: readonly C[]): Promise<C[]> {
  return actOnClaims(connection, claims, (session, ids, attempts) => {
    return session.all<ActedRow>('deleteClaims', [ids, attempts]);
  });
}

/** Deletes all claims that hold, and claims the next jobs, in one statement. */
export async function deleteAndClaim<C extends Claim>(
  connection: Connection,
  claims: readonly C[],
  request: ClaimRequest,
): Promise<Turnover<C>> {
  if (request.queues.length === 0) return { lost: await deleteClaims(connection, claims), jobs: [] };
  const checked = checkedCopies(claims);
  const ids = checked.map(({ id }) => id);
  const attempts = checked.map((claim) => claim.attempts);
  return connection.run(async (session, now) => {
    const lost = new Set<string>();
    const jobs = await claimJobs(session, request, now, async (values) => {
      const claimed: ClaimedRow[] = [];
      for (const row of await session.all<ClaimedRow | LostRow>('deleteAndClaim', [...values, ids, attempts])) {
        if (row.queue === null) lost.add(`${row.id} ${row.attempts}`);
        else claimed.push(row);
      }
      return claimed;
    });
    return {
      lost: checked.filter(({ id, attempts }) => lost.has(`${id} ${attempts}`)).map(({ original }) => original),
      jobs,
    };
  });
}

/** Copies: what was checked is what is sent, whatever happens to the caller's objects while a connection is waited for. */
function checkedCopies<C extends Claim>(claims: readonly C[]): (Claim & { readonly original: C })[] {
  return checkClaims(claims).map((original) => ({ original, ...checkClaim(original) }));
}

async function claimRows(
  send: Send,
  { queues, limit, timeout, worker }: ClaimRequest,
  now: Date,
  held: readonly ReservedJob[],
): Promise<ClaimedRow[]> {
  const mayTakeOver = held.length === 0;
  const values = [queues, nowStamp(now), stampAfter(now, timeout), worker, limit, mayTakeOver];
  const rows = await send(values);
  // A statement promises no order of what it returns.
  const place = new Map(queues.map((queue, index) => [queue, index]));
  return rows.toSorted(
    (a, b) =>
      (place.get(a.queue) ?? 0) - (place.get(b.queue) ?? 0) ||
      Number(b.priority) - Number(a.priority) ||
      compare(a.available_at ?? '', b.available_at ?? '') ||
      Number(a.id) - Number(b.id),
  );
}

/** The jobs in claimed rows. Those whose payload does not decode are failed. */
async function decode(session: Session, rows: readonly ClaimedRow[], now: Date): Promise<ReservedJob[]> {
  const jobs: ReservedJob[] = [];
  for (const row of rows) {
    const claim: Claim = { id: Number(row.id), attempts: Number(row.attempts), handle: '' };
    const job = reservedJob({
      ...claim,
      queue: row.queue,
      name: row.name,
      payloadJson: row.payload,
      maxAttempts: Number(row.max_attempts),
      reclaimed: row.reclaimed === 'true',
    });
    if (job === null) await failClaim(session, claim, UNDECODABLE_PAYLOAD, now);
    else jobs.push(job);
  }
  return jobs;
}

/** A queue of which only broken rows came has used up a round; after the last one it is left to the next reserve. */
function countRounds(rounds: Map<string, number>, rows: readonly ClaimedRow[], jobs: readonly ReservedJob[]): void {
  const fruitful = new Set(jobs.map(({ queue }) => queue));
  for (const queue of new Set(rows.map((row) => row.queue))) {
    const left = rounds.get(queue) ?? 0;
    if (fruitful.has(queue)) continue;
    if (left > 1) rounds.set(queue, left - 1);
    else rounds.delete(queue);
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
