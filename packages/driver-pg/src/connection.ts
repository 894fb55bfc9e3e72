import { setTimeout as sleep } from 'node:timers/promises';
import { isQueueError, type QueueWarning } from '@q/core';
import { CLAIM_ROUNDS } from '@q/core/driver-kit';
import {
  errorListenersOf,
  type PgPool,
  type PgPoolClient,
  type PgQuery,
  type PgResult,
  type Queryable,
} from './client.js';
import { Deadline } from './deadline.js';
import * as errors from './errors.js';
import { Session } from './session.js';
import type { StatementTexts } from './statements.js';

export interface ConnectionOptions {
  readonly table: string;
  readonly failedTable: string;
  /** Seconds one call may take, the wait for a connection included. */
  readonly callTimeout: number;
  readonly now: () => Date;
  readonly warn: (warning: QueueWarning) => void;
}

/** What is done on one connection. The time is that at which the connection was had. */
type Work<T> = (session: Session, now: Date) => Promise<T>;

// How long a connection that was idle may take to show that it lives.
const PROBE_MS = 1_000;

/**
 * The driver's way to the database: for each call one connection of the application's pool, for as long as the call
 * takes. Between calls nothing is held, and nothing is left behind on a connection: no setting, no statement, no lock.
 *
 * A connection is given back only where it is known to be as good as before. One that did not answer in time, was lost,
 * or belongs to a node that takes no writes is destroyed; and the pool's idle ones, which may be the same, are tried.
 */
export class Connection {
  readonly #pool: PgPool;
  readonly #texts: StatementTexts;
  readonly #options: ConnectionOptions;
  readonly #broken = new WeakSet<PgPoolClient>();
  #sweeping: Promise<unknown> | null = null;
  /** Whether the application's default isolation is above READ COMMITTED, as far as has been noticed. */
  #isIsolated = false;
  #isClosed = false;

  constructor(pool: PgPool, texts: StatementTexts, options: ConnectionOptions) {
    this.#pool = pool;
    this.#texts = texts;
    this.#options = options;
  }

  /** Single statements, each a transaction of its own, and sent again where it loses a race. */
  async run<T>(work: Work<T>): Promise<T> {
    const deadline = this.#deadline();
    return this.#with(deadline, (client) => {
      const session = new Session({ query: (query) => this.#sendAlone(client, query) }, this.#texts);
      return work(session, this.#options.now());
    });
  }

  /**
   * One transaction, all or nothing; `work` is started anew where it loses a race. `'made'`: the work makes the tables, so
   * that they are missing explains no error.
   */
  async transaction<T>(work: Work<T>): Promise<T> {
    const deadline = this.#deadline();
    for (let round = 1; ; round += 1) {
      try {
        return await this.#with(deadline, (client) =>
          this.#inTransaction(client, (session) => work(session, this.#options.now())),
        );
      } catch (error) {
        if (round === CLAIM_ROUNDS || !errors.isLostRace(error)) throw error;
        await sleep(pauseMs(round));
      }
    }
  }

  /** The statements on a connection, each sent once and as it is. */
  sessionOn(client: Queryable): Session {
    return new Session(client, this.#texts);
  }

  /** Tries the idle connections of the pool, and destroys those that do not answer or take no writes. */
  suspect(): void {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = null;
    });
  }

  /** The time of day. */
  now(): Date {
    return this.#options.now();
  }

  /** Throws `store_unavailable` once the driver is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw errors.closedDriver();
  }

  /** Calls that are under way still end. The pool is the application's. */
  close(): void {
    this.#isClosed = true;
  }

  /** An error of the server's in the terms of q, where q knows what to do about it; any other as it is. */
  async explained(error: unknown): Promise<unknown> {
    if (!errors.isUndefinedTable(error)) return error;
    const { table, failedTable } = this.#options;
    try {
      const isThere = await this.#withClient(this.#deadline(), async (client) =>
        this.sessionOn(client).first<{ readonly found: string }>('findTables', [table, failedTable]),
      );
      return isThere?.found === 'true' ? error : errors.missingTables(error, `"${table}" and "${failedTable}"`);
    } catch {
      return error;
    }
  }

  async #with<T>(deadline: Deadline, work: (client: PgPoolClient) => Promise<T>): Promise<T> {
    this.checkOpen();
    this.#warnOfErrors();
    if (this.#sweeping !== null) await deadline.wait(this.#sweeping, () => this.#noConnection());
    try {
      return await this.#withClient(deadline, work);
    } catch (error) {
      throw await this.explained(error);
    }
  }

  async #withClient<T>(deadline: Deadline, work: (client: PgPoolClient) => Promise<T>): Promise<T> {
    const client = await this.#checkOut(deadline);
    try {
      const result = await deadline.wait(work(client), () => errors.callTimedOut(this.#options.callTimeout));
      this.#giveBack(client);
      return result;
    } catch (error) {
      const isGood = !this.#broken.has(client) && (errors.isHarmless(error) || isOfOurs(error));
      if (isGood) this.#giveBack(client);
      else this.#destroy(client, error);
      throw error;
    }
  }

  async #checkOut(deadline: Deadline): Promise<PgPoolClient> {
    let isLate = false;
    const connecting = this.#takeFromPool().then((client) => {
      if (isLate) this.#giveBack(client);
      return client;
    });
    return deadline.wait(connecting, () => {
      isLate = true;
      return this.#noConnection();
    });
  }

  #takeFromPool(): Promise<PgPoolClient> {
    return new Promise((resolve, reject) => {
      let isTaken = false;
      const take = (client: PgPoolClient) => {
        // In the pool's hands an error of the connection goes to the pool, in ours to us, and without a listener it would
        // end the process. The call under way rejects with it.
        if (!isTaken) client.on('error', ignore);
        isTaken = true;
        resolve(client);
      };
      // A callback is called as the pool lets go. A promise would tell some microtasks later, and an error that came
      // together with the server's welcome is emitted in between.
      const answer = this.#pool.connect((error, client) => {
        if (client === undefined) reject(error);
        else take(client);
      });
      if (isPromised(answer)) answer.then(take, reject);
    });
  }

  #giveBack(client: PgPoolClient): void {
    client.removeListener('error', ignore);
    client.release();
  }

  #destroy(client: PgPoolClient, error: unknown): void {
    client.release(error instanceof Error ? error : true);
    this.suspect();
  }

  /** One statement in a transaction of its own, at READ COMMITTED where the application's default was found to be above. */
  async #sendAlone(client: PgPoolClient, query: PgQuery): Promise<PgResult> {
    for (let round = 1; ; round += 1) {
      try {
        if (!this.#isIsolated) return await client.query(query);
        return await this.#inTransaction(client, async () => client.query(query));
      } catch (error) {
        // At READ COMMITTED there is no such error, so the default is above it. From now on ours is said.
        if (errors.isSerializationFailure(error)) this.#isIsolated = true;
        if (round === CLAIM_ROUNDS || !errors.isLostRace(error)) throw error;
        await sleep(pauseMs(round));
      }
    }
  }

  async #inTransaction<T>(client: PgPoolClient, work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.sessionOn(client);
    let result: T;
    // Broken until the opposite is known: whatever begin, commit or rollback met, the connection is not given back.
    this.#broken.add(client);
    await session.run('begin');
    try {
      result = await work(session);
    } catch (error) {
      await session.run('rollback').then(
        () => this.#broken.delete(client),
        () => {},
      );
      throw error;
    }
    await session.run('commit');
    this.#broken.delete(client);
    return result;
  }

  async #sweep(): Promise<void> {
    const tries = Array.from({ length: this.#pool.idleCount }, async () => {
      const deadline = new Deadline(PROBE_MS);
      const client = await this.#checkOut(deadline);
      try {
        const answer = this.sessionOn(client).first<{ readonly read_only: string }>('probe');
        const state = await deadline.wait(answer, () => this.#noConnection());
        if (state?.read_only === 'on') throw new Error('The node takes no writes');
        this.#giveBack(client);
      } catch (error) {
        client.release(error instanceof Error ? error : true);
      }
    });
    await Promise.allSettled(tries);
  }

  #deadline(): Deadline {
    return new Deadline(this.#options.callTimeout * 1000);
  }

  #noConnection(): Error {
    return errors.noConnection(this.#options.callTimeout);
  }

  /** The pool is the application's, so its events are too. But one without a listener ends the process one day. */
  #warnOfErrors(): void {
    if (errorListenersOf(this.#pool) !== 0) return;
    this.#options.warn({
      code: 'pool_without_error_listener',
      message:
        'The Pool has no listener for errors, so that an idle connection which is lost would end the process: ' +
        "pool.on('error', …)",
    });
  }
}

function ignore(): void {}

function isPromised(answer: unknown): answer is PromiseLike<PgPoolClient> {
  // The cast: any object may be asked for any property.
  return typeof answer === 'object' && answer !== null && typeof (answer as { then?: unknown }).then === 'function';
}

/** What our own code threw, while the connection did nothing wrong. A call that timed out is another matter. */
function isOfOurs(error: unknown): boolean {
  return isQueueError(error) && error.code !== 'call_timeout';
}

/** Uneven, so that two who lost to each other do not keep step. */
function pauseMs(round: number): number {
  return 2 ** round * (0.5 + Math.random());
}
