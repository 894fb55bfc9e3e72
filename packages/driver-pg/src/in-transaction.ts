import type { Claim, InTransaction, NewJob } from '@q/core';
import { checkClaim, encodeJob, encodeJobs } from '@q/core/driver-kit';
import { checkTransaction, mayBeInTransaction, type PgTransaction } from './client.js';
import type { Connection } from './connection.js';
import { markTransactionLost } from './errors.js';
import { pushJob, pushJobs } from './push.js';
import type { Session } from './session.js';

export interface CallersOptions {
  readonly connection: Connection;
  readonly maxPayloadBytes: number;
  readonly now: () => Date;
  /** Whether a push in a transaction of the application's announces itself when that commits. */
  readonly notifies: boolean;
}

/**
 * Work on clients of the application's: single statements in the transaction that is open there, never a BEGIN, a COMMIT
 * or a savepoint, and none sent a second time. What is refused is refused before the first of them.
 */
export class CallersClients {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Throws `invalid_transaction` for what is not a client, or one that has no transaction open, where that is known. */
  within(tx: unknown): InTransaction {
    const client = checkTransaction(tx);
    return {
      push: (job) => this.#push(client, job),
      pushMany: (jobs) => this.#pushMany(client, jobs),
      delete: (claim) => this.#delete(client, claim),
      isOpen: async () => mayBeInTransaction(client),
    };
  }

  async #push(client: PgTransaction, job: NewJob): Promise<number> {
    const { maxPayloadBytes, notifies } = this.#options;
    const encoded = encodeJob(job, maxPayloadBytes);
    return this.#on(client, async (session, now) => (await pushJob(session, encoded, { now, notifies })).id);
  }

  async #pushMany(client: PgTransaction, jobs: readonly NewJob[]): Promise<number[]> {
    const { maxPayloadBytes, notifies } = this.#options;
    const encoded = encodeJobs(jobs, maxPayloadBytes);
    if (encoded.length === 0) return [];
    return this.#on(client, async (session, now) => {
      const pushed = await pushJobs(session, encoded, now);
      const queues = new Set(encoded.filter((_, index) => pushed[index]?.isNew).map(({ queue }) => queue));
      if (notifies && queues.size > 0) await session.run('notify', [[...queues]]);
      return pushed.map(({ id }) => id);
    });
  }

  async #delete(client: PgTransaction, claim: Claim): Promise<boolean> {
    const { id, attempts } = checkClaim(claim);
    return this.#on(client, async (session) => (await session.run('deleteClaim', [id, attempts])) === 1);
  }

  async #on<T>(client: PgTransaction, work: (session: Session, now: Date) => Promise<T>): Promise<T> {
    const { connection, now } = this.#options;
    connection.checkOpen();
    checkTransaction(client);
    try {
      return await work(connection.sessionOn(client), now());
    } catch (error) {
      markTransactionLost(error);
      throw await connection.explained(error);
    }
  }
}
