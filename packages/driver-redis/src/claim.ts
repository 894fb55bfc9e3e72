import type { ReservedJob } from '@q/core';
import {
  CLAIM_ROUNDS,
  type ClaimedRow,
  type ClaimRequest,
  reservedJob,
  secondsAfter,
  secondsAt,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import type { Context } from './context.js';
import { CLAIMS_AT_ONCE, failClaim } from './finish.js';
import { handleOf } from './keys.js';
import { listOf, rowsOf, textsOf } from './replies.js';

/** Claims up to `limit` jobs. Payloads that do not decode are failed on the spot, and others claimed in their place. */
export async function claimJobs(context: Context, request: ClaimRequest): Promise<ReservedJob[]> {
  const claiming = new Claiming(context, request);
  try {
    await claiming.run();
  } catch (error) {
    // What was claimed by then is the caller's, and would else lie there until the claims expire.
    if (claiming.claimed.length === 0) throw error;
  }
  return claiming.claimed;
}

// How often a reserve may find that a queue has got another level meanwhile.
const STOPS = 20;

/** One answer of the script. */
interface Answer {
  readonly rows: readonly ClaimedRow[];
  /** It ended before a job whose claim had expired, or is that job. */
  readonly isOver: boolean;
  /** It stopped before the n-th queue, of which it was not given all levels. */
  readonly stoppedAt: number | null;
  /** It claimed all that it was asked for. */
  readonly isFull: boolean;
}

class Claiming {
  readonly claimed: ReservedJob[] = [];
  readonly #context: Context;
  readonly #request: ClaimRequest;
  readonly #rounds = new Map<string, number>();
  #stops = 0;
  #queues: string[];

  constructor(context: Context, request: ClaimRequest) {
    this.#context = context;
    this.#request = request;
    this.#queues = [...new Set(request.queues)];
  }

  async run(): Promise<void> {
    while (this.#queues.length > 0 && this.claimed.length < this.#request.limit) {
      const { rows, isOver, stoppedAt, isFull } = await this.#claim();
      const broken = await this.#take(rows);
      if (isOver && this.claimed.length > 0) return;
      if (stoppedAt !== null) this.#goOnAt(stoppedAt);
      else if (broken.length > 0) this.#goOnFrom(broken, rows);
      else if (!isFull) return;
    }
  }

  async #claim(): Promise<Answer> {
    const { connection, levels, now } = this.#context;
    const { limit, timeout, worker } = this.#request;
    const at = now();
    const most = Math.min(limit - this.claimed.length, CLAIMS_AT_ONCE);
    const reply = listOf(
      await connection.run('reserve', levels.of(this.#queues), [
        String(secondsAt(at)),
        String(secondsAfter(at, timeout)),
        worker,
        String(most),
        this.claimed.length > 0 ? 'more' : '',
      ]),
    );
    levels.learn(textsOf(reply[1]));
    this.#warnOf(textsOf(reply[3]));
    const [end = ''] = textsOf(reply[2]);
    const stopped = /^queue (\d+)$/.exec(end)?.[1];
    const stoppedAt = stopped === undefined ? null : Number(stopped) - 1;
    const rows = rowsOf(reply[0], 9).map(claimedRow);
    return { rows, isOver: end === 'batch', stoppedAt, isFull: rows.length === most };
  }

  /** Keeps what decodes and fails what does not; resolves to the latter. */
  async #take(rows: readonly ClaimedRow[]): Promise<ClaimedRow[]> {
    const broken: ClaimedRow[] = [];
    for (const row of rows) {
      const job = reservedJob(row);
      if (job === null) broken.push(row);
      else this.claimed.push(job);
    }
    // Should this not succeed, they are under a claim still: whoever takes them over fails them.
    await Promise.all(broken.map((row) => failClaim(this.#context, row, UNDECODABLE_PAYLOAD)));
    return broken;
  }

  /** On with the queue whose levels are known now; without it where there are new ones whenever it is asked. */
  #goOnAt(stoppedAt: number): void {
    this.#stops += 1;
    this.#queues = this.#queues.slice(this.#stops > STOPS ? stoppedAt + 1 : stoppedAt);
  }

  /** On from the queue of the last broken job. One that gave nothing but broken jobs has used up a round. */
  #goOnFrom(broken: readonly ClaimedRow[], rows: readonly ClaimedRow[]): void {
    const last = rows.at(-1)?.queue ?? '';
    this.#queues = this.#queues.slice(this.#queues.indexOf(last));
    for (const queue of new Set(broken.map((row) => row.queue))) {
      if (rows.some((row) => row.queue === queue && !broken.includes(row))) continue;
      const rounds = (this.#rounds.get(queue) ?? 0) + 1;
      this.#rounds.set(queue, rounds);
      if (rounds === CLAIM_ROUNDS) this.#queues = this.#queues.filter((one) => one !== queue);
    }
  }

  #warnOf(stranded: readonly string[]): void {
    if (stranded.length === 0) return;
    const message = `There are entries with ids above 2^53 − 1 (${stranded[0]}), which no JavaScript number can hold; they are left alone`;
    this.#context.warn({ code: 'id_out_of_range', message });
  }
}

function claimedRow(words: readonly string[]): ClaimedRow {
  const [queue = '', priority, id, entry = '', name = '', payloadJson = '', attempts, maxAttempts, reclaimed] = words;
  return {
    id: Number(id),
    handle: handleOf({ entry, priority: Number(priority), queue }),
    queue,
    name,
    payloadJson,
    attempts: Number(attempts),
    maxAttempts: Number(maxAttempts),
    reclaimed: reclaimed === 'reclaimed',
  };
}
