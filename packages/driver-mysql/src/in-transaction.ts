import { type Claim, type InTransaction, isQueueError, type NewJob, QueueError } from '@q/core';
import { checkClaim, encodeJob, encodeJobs } from '@q/core/driver-kit';
import { checkConnection, type Queryable } from './client.js';
import type { Connection } from './connection.js';
import { isDeadlock, isReadOnly, markTransactionLost } from './errors.js';
import { pushManyWithin, pushWithin } from './push.js';
import type { Session } from './session.js';

export interface CallersOptions {
  readonly connection: Connection;
  readonly maxPayloadBytes: number;
  readonly now: () => Date;
}

/**
 * Work on connections of the application's: single statements in the transaction that is open there, never a BEGIN, a
 * COMMIT or a savepoint, and none sent a second time. What is refused is refused before the first of them. None has a
 * deadline: how long a lock is waited for is the application's setting, and so is what becomes of its connection.
 */
export class CallersConnections {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Throws `invalid_transaction` for what is not a connection. That a transaction is open is checked at each call. */
  within(tx: unknown): InTransaction {
    const client = checkConnection(tx);
    return {
      push: (job) => this.#push(client, job),
      pushMany: (jobs) => this.#pushMany(client, jobs),
      delete: (claim) => this.#delete(client, claim),
      isOpen: () => this.#isOpen(client),
    };
  }

  async #push(client: Queryable, job: NewJob): Promise<number> {
    const encoded = encodeJob(job, this.#options.maxPayloadBytes);
    return this.#on(client, async (session, now) => (await pushWithin(session, encoded, now)).id);
  }

  async #pushMany(client: Queryable, jobs: readonly NewJob[]): Promise<number[]> {
    const encoded = encodeJobs(jobs, this.#options.maxPayloadBytes);
    if (encoded.length === 0) return [];
    return this.#on(client, async (session, now) => {
      return (await pushManyWithin(session, encoded, now)).map(({ id }) => id);
    });
  }

  async #delete(client: Queryable, claim: Claim): Promise<boolean> {
    const { id, attempts } = checkClaim(claim);
    return this.#on(client, async (session) => (await session.run('deleteClaim', { id, attempts })).rows === 1);
  }

  /** The server's word, since mysql2 does not keep it. */
  async #isOpen(client: Queryable): Promise<boolean> {
    const session = this.#options.connection.sessionOn(client);
    try {
      await session.run('state');
      return session.isOpen;
    } catch {
      return false; // closed, and its transaction with it
    }
  }

  async #on<T>(client: Queryable, work: (session: Session, now: Date) => Promise<T>): Promise<T> {
    const { connection, now } = this.#options;
    connection.checkOpen();
    const session = connection.sessionOn(client);
    let wasOpen = false;
    try {
      await checkOpenTransaction(session);
      wasOpen = session.isOpen;
      return await work(session, now());
    } catch (error) {
      if (await isLost(session, wasOpen, error)) markTransactionLost(error);
      throw connection.explained(error);
    }
  }
}

/**
 * Outside of a transaction each statement is one of its own, so that a job would stay when what caused it rolls back.
 * mysql2 does not tell what it knows of that; the server does. Without autocommit the first statement begins one.
 */
async function checkOpenTransaction(session: Session): Promise<void> {
  await session.run('state');
  if (session.isOpen || !session.isAutocommit) return;
  throw new QueueError(
    'invalid_transaction',
    'No transaction is open on the connection given to within. Outside of one, call the same method of the queue itself',
  );
}

/**
 * Whether an error has cost the application its transaction. A deadlock always does, a lost connection too; what else does
 * is a matter of the server's settings (`innodb_rollback_on_timeout`), so it is asked.
 */
async function isLost(session: Session, wasOpen: boolean, error: unknown): Promise<boolean> {
  if (isQueueError(error)) return false;
  if (isDeadlock(error) || (session.isBroken && !isReadOnly(error))) return true;
  try {
    await session.run('state');
    return wasOpen && !session.isOpen;
  } catch {
    return true;
  }
}
