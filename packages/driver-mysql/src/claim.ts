import type { Claim, ReservedJob } from '@q/core';
import {
  CLAIM_ROUNDS,
  type ClaimRequest,
  checkClaim,
  checkClaims,
  reservedJob,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import { chunksOf } from './chunks.js';
import type { Connection } from './connection.js';
import { isLostRace, lockNotHeld } from './errors.js';
import { checkStored } from './push.js';
import { type CandidateRow, type MovedRow, nowStamp, stampAfter } from './rows.js';
import type { Server } from './server-version.js';
import type { Session } from './session.js';

type CandidateStatement = 'candidates' | 'candidatesSkippingLocked' | 'candidatesWaiting';

/** Claims up to `limit` jobs, in one transaction. */
export async function claimJobs(connection: Connection, server: Server, request: ClaimRequest): Promise<ReservedJob[]> {
  try {
    return await connection.transaction((session, now) => claimFromQueues(session, server, request, now));
  } catch (error) {
    // Every round of every queue was lost, to whoever does have the jobs.
    if (isLostRace(error)) return [];
    throw error;
  }
}

/** Acts on the claims that still hold, in one transaction, and resolves to the others: they are lost. */
export async function actOnClaims<C extends Claim>(
  connection: Connection,
  claims: readonly C[],
  act: (session: Session, ids: readonly number[], now: Date) => Promise<unknown>,
): Promise<C[]> {
  // Copies: what was checked is what is sent, whatever happens to the caller's objects while a connection is waited for.
  const checked = checkClaims(claims).map((original) => ({ original, ...checkClaim(original) }));
  if (checked.length === 0) return [];
  // In the order of their ids: two who act on the same claims wait for each other, and never each for the other.
  const ids = [...new Set(checked.map(({ id }) => id))].toSorted((a, b) => a - b);
  return connection.transaction(async (session, now) => {
    const attempts = new Map<number, number>();
    for (const some of chunksOf(ids)) {
      const rows = await session.all<LockedRow>('lockClaims', { ids: some, limit: some.length });
      for (const row of rows) attempts.set(Number(row.id), Number(row.attempts));
    }
    const isHeld = (claim: Claim) => attempts.get(claim.id) === claim.attempts;
    const held = new Set(checked.filter(isHeld).map(({ id }) => id));
    for (const some of chunksOf(ids.filter((id) => held.has(id)))) await act(session, some, now);
    return checked.filter((claim) => !isHeld(claim)).map(({ original }) => original);
  });
}

interface LockedRow {
  readonly id: string;
  readonly attempts: string;
}

/** Moves a claimed job to the failed table. False: the claim does not hold, and nothing happened. */
export async function failClaim(session: Session, { id, attempts }: Claim, error: string, now: Date): Promise<boolean> {
  const job = await session.first<MovedRow>('lockClaim', { id, attempts });
  if (job === undefined) return false;
  await insertFailed(session, { ...job, attempts, error }, now);
  await session.run('deleteClaim', { id, attempts });
  return true;
}

async function claimFromQueues(
  session: Session,
  server: Server,
  request: ClaimRequest,
  now: Date,
): Promise<ReservedJob[]> {
  const skipsLocked = await server.skipsLocked(session);
  const claimed: ReservedJob[] = [];
  for (const queue of request.queues) {
    if ((await claimFromQueue(session, { ...request, queue, skipsLocked }, now, claimed)) === 'full') break;
  }
  return claimed;
}

async function claimFromQueue(
  session: Session,
  request: ClaimRequest & { readonly queue: string; readonly skipsLocked: boolean },
  now: Date,
  claimed: ReservedJob[],
): Promise<'full' | 'next queue'> {
  const { queue, limit, skipsLocked } = request;
  for (let rounds = CLAIM_ROUNDS; rounds > 0; ) {
    const wanted = limit - claimed.length;
    const before = claimed.length;
    const statement = candidateStatement(skipsLocked, rounds === 1);
    const candidates = await findCandidates(session, { statement, queue, limit: wanted }, now);
    const batch = untilReclaimed(candidates, before > 0);
    const won = await claimBatch(session, batch, { ...request, isLocked: statement !== 'candidates' }, now);
    for (const row of won) {
      const job = await decode(session, queue, row, now);
      if (job !== null) claimed.push(job);
    }
    const isCut = batch.length < candidates.length;
    if (claimed.length === limit || claimed.at(-1)?.reclaimed || (isCut && claimed.length > 0)) return 'full';
    if (!isCut && candidates.length < wanted && won.length === batch.length) return 'next queue';
    if (claimed.length === before) rounds -= 1;
  }
  return 'next queue';
}

/**
 * Where the server can step past locked rows, that. Where it cannot, candidates are not locked, so that workers race for
 * them and none waits; but the last round waits instead, or a worker might go on losing for ever.
 */
function candidateStatement(skipsLocked: boolean, isLastRound: boolean): CandidateStatement {
  if (skipsLocked) return 'candidatesSkippingLocked';
  return isLastRound ? 'candidatesWaiting' : 'candidates';
}

/** The first `limit` jobs of a queue that are due and not held, level by level. */
async function findCandidates(
  session: Session,
  {
    statement,
    queue,
    limit,
  }: { readonly statement: CandidateStatement; readonly queue: string; readonly limit: number },
  now: Date,
): Promise<CandidateRow[]> {
  const at = nowStamp(now);
  const found: CandidateRow[] = [];
  let level = await session.first<Level>('topPriority', { queue });
  while (level !== undefined) {
    const priority = Number(level.priority);
    const parameters = { queue, priority, now: at, limit: limit - found.length };
    for (const row of await session.all<CandidateRow>(statement, parameters)) found.push(row);
    if (found.length === limit) break;
    level = await session.first<Level>('nextPriority', { queue, priority });
  }
  return found;
}

interface Level {
  readonly priority: string;
}

/** A job that was taken over comes alone: it may be what killed its worker, and would charge its neighbours. */
function untilReclaimed(candidates: readonly CandidateRow[], isAnyHeld: boolean): readonly CandidateRow[] {
  const first = candidates.findIndex((row) => row.reserved_until !== null);
  if (first === -1) return candidates;
  return candidates.slice(0, first === 0 && !isAnyHeld ? 1 : first);
}

/** Claims the candidates, and resolves to those that were won. */
async function claimBatch(
  session: Session,
  batch: readonly CandidateRow[],
  { isLocked, timeout, worker }: { readonly isLocked: boolean; readonly timeout: number; readonly worker: string },
  now: Date,
): Promise<readonly CandidateRow[]> {
  const bound = { until: stampAfter(now, timeout), worker, now: nowStamp(now) };
  const won: CandidateRow[] = [];
  if (isLocked) {
    for (const some of chunksOf(batch)) {
      const { rows } = await session.run('claimLocked', { ...bound, ids: some.map(({ id }) => BigInt(id)) });
      if (rows !== some.length) throw lockNotHeld();
      won.push(...some);
    }
    return won;
  }
  for (const row of batch) {
    const { rows } = await session.run('claim', { ...bound, id: BigInt(row.id), attempts: Number(row.attempts) });
    if (rows === 1) won.push(row);
  }
  return won;
}

/** The job, or null where its payload does not decode, in which case it is failed. */
async function decode(session: Session, queue: string, row: CandidateRow, now: Date): Promise<ReservedJob | null> {
  const { name, payload } = row;
  const claim: Claim = { id: Number(row.id), attempts: Number(row.attempts) + 1, handle: '' };
  const job = reservedJob({
    ...claim,
    queue,
    name,
    payloadJson: payload,
    maxAttempts: Number(row.max_attempts),
    reclaimed: row.reserved_until !== null,
  });
  if (job !== null) return job;
  const { id, attempts } = claim;
  await insertFailed(session, { queue, name, payload, attempts, error: UNDECODABLE_PAYLOAD }, now);
  await session.run('deleteClaim', { id, attempts });
  return null;
}

async function insertFailed(
  session: Session,
  { queue, name, payload, attempts, error }: MovedRow & { readonly attempts: number; readonly error: string },
  now: Date,
): Promise<void> {
  const { id } = await session.run('insertFailed', { queue, name, payload, attempts, error, now: nowStamp(now) });
  await checkStored(session, 'storedFailedBytes', { id, payload });
}
