import type { Claim, QueueWarning, ReservedJob, Turnover } from '@q/core';
import {
  CLAIM_ROUNDS,
  type ClaimRequest,
  checkClaim,
  checkClaims,
  reservedJob,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import type { SettledSqliteOptions } from './options.js';
import type { PreparedStatements } from './prepared.js';
import { type CandidateRow, nowStamp, stampAfter } from './rows.js';

/**
 * Claims up to `limit` jobs. Looks first without the write lock, so idle workers are in nobody's way. Warns of rows that
 * are left alone, because no JavaScript number can name them.
 */
export async function claimJobs(
  connection: Connection,
  request: ClaimRequest,
  { table, warn }: SettledSqliteOptions,
): Promise<ReservedJob[]> {
  const isAnythingDue = await connection.read((statements, now) => {
    if (statements.first('findStranded') !== undefined) warn(strandedRows(table));
    return request.queues.some((queue) => findCandidates(statements, { queue, limit: 1 }, now).length > 0);
  });
  return isAnythingDue ? connection.write((statements, now) => new Claiming(statements, request, now).run()) : [];
}

/** Deletes all claims that hold, and claims the next jobs, in one transaction. */
export async function deleteAndClaim<C extends Claim>(
  connection: Connection,
  claims: readonly C[],
  request: ClaimRequest,
): Promise<Turnover<C>> {
  const checked = checkedCopies(claims);
  const { lost, jobs } = await connection.write((statements, now) => ({
    lost: checked.filter(({ claim }) => !deleteClaim(statements, claim)),
    jobs: new Claiming(statements, request, now).run(),
  }));
  return { lost: lost.map(({ original }) => original), jobs };
}

/** The job is done. False: the claim does not hold, and nothing happened. */
export function deleteClaim(statements: PreparedStatements, { id, attempts }: Claim): boolean {
  return statements.run('deleteClaim', { id, attempts }) === 1;
}

type FencedAct = (statements: PreparedStatements, claim: Claim, now: Date) => boolean;

/** Acts on all claims in one transaction, and resolves to those it refused: they are lost. */
export async function actOnClaims<C extends Claim>(
  connection: Connection,
  claims: readonly C[],
  act: FencedAct,
): Promise<C[]> {
  const checked = checkedCopies(claims);
  if (checked.length === 0) return [];
  const lost = await connection.write((statements, now) => checked.filter(({ claim }) => !act(statements, claim, now)));
  return lost.map(({ original }) => original);
}

/** Copies: what was checked is what is sent, whatever happens to the caller's objects while a lock is waited for. */
function checkedCopies<C extends Claim>(claims: readonly C[]): { readonly original: C; readonly claim: Claim }[] {
  return checkClaims(claims).map((original) => ({ original, claim: checkClaim(original) }));
}

/** Moves a claimed job to the failed table. False: the claim does not hold, and nothing happened. */
export function failClaim(statements: PreparedStatements, failure: Failure, now: Date): boolean {
  const { id, attempts, error } = failure;
  if (statements.run('insertFailed', { id, attempts, error, now: nowStamp(now) }) === 0) return false;
  return statements.run('deleteClaim', { id, attempts }) === 1;
}

interface Failure {
  readonly id: number;
  readonly attempts: number;
  readonly error: string;
}

/** One claim, inside its writing transaction: what was looked at cannot change before it is taken. */
class Claiming {
  readonly #statements: PreparedStatements;
  readonly #request: ClaimRequest;
  readonly #now: Date;
  readonly #claimed: ReservedJob[] = [];

  constructor(statements: PreparedStatements, request: ClaimRequest, now: Date) {
    this.#statements = statements;
    this.#request = request;
    this.#now = now;
  }

  run(): ReservedJob[] {
    for (const queue of this.#request.queues) {
      if (this.#claimFrom(queue) === 'full') break;
    }
    return this.#claimed;
  }

  #claimFrom(queue: string): 'full' | 'next queue' {
    const claimed = this.#claimed;
    for (let rounds = CLAIM_ROUNDS; rounds > 0; ) {
      const limit = this.#request.limit - claimed.length;
      const before = claimed.length;
      const candidates = findCandidates(this.#statements, { queue, limit }, this.#now);
      for (const candidate of candidates) {
        // A job that was taken over comes alone: it may be what killed its worker, and would charge its neighbours.
        if (candidate.reserved_until !== null && claimed.length > 0) return 'full';
        const job = this.#claim(queue, candidate);
        if (job !== null) claimed.push(job);
        if (job?.reclaimed) return 'full';
      }
      if (claimed.length === this.#request.limit) return 'full';
      if (candidates.length < limit) return 'next queue';
      if (claimed.length === before) rounds -= 1;
    }
    return 'next queue';
  }

  /** The job, or null where the guard refused it, or where its payload does not decode and it is failed already. */
  #claim(queue: string, row: CandidateRow): ReservedJob | null {
    const { worker, timeout } = this.#request;
    const until = stampAfter(this.#now, timeout);
    const now = nowStamp(this.#now);
    if (this.#statements.run('claim', { id: row.id, until, worker, now }) !== 1) return null;
    const claim: Claim = { id: row.id, attempts: row.attempts + 1, handle: '' };
    const job = reservedJob({
      ...claim,
      queue,
      name: row.name,
      // String: SQLite keeps a blob that another hand wrote, whatever the column says.
      payloadJson: String(row.payload),
      maxAttempts: row.max_attempts,
      reclaimed: row.reserved_until !== null,
    });
    if (job === null) failClaim(this.#statements, { ...claim, error: UNDECODABLE_PAYLOAD }, this.#now);
    return job;
  }
}

/** The first `limit` jobs of a queue that are due and not held, level by level. */
function findCandidates(
  statements: PreparedStatements,
  { queue, limit }: { readonly queue: string; readonly limit: number },
  now: Date,
): CandidateRow[] {
  const at = nowStamp(now);
  const found: CandidateRow[] = [];
  let level = statements.first<Level>('topPriority', { queue });
  while (level !== undefined && level.priority !== null) {
    const { priority } = level;
    const parameters = { queue, priority, now: at, limit: limit - found.length };
    for (const row of statements.all<CandidateRow>('candidates', parameters)) found.push(row);
    if (found.length === limit) break;
    level = statements.first<Level>('nextPriority', { queue, priority });
  }
  return found;
}

interface Level {
  /** Null: there is no (further) job in the queue. */
  readonly priority: number | null;
}

function strandedRows(table: string): QueueWarning {
  const message = `${table} holds jobs with ids above 2^53 − 1, which no JavaScript number can hold; they are left alone`;
  return { code: 'id_out_of_range', message };
}
