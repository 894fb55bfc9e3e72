import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueWarning } from '@q/core';
import { CLAIM_ROUNDS } from '@q/core/driver-kit';
import { destroy, identityOf, type Pool, type PooledClient, type Queryable } from './client.js';
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

// How often a deadlock may find the same victim. Under many writers to few keys a handful is not enough.
const RACES = CLAIM_ROUNDS * 2;

// How many glances may go by before one makes sure of its connection.
const GLANCES = 20;

/**
 * The driver's way to the database: for each call one connection of the application's pool, for as long as the call
 * takes. Between calls nothing is held, and nothing is left behind on a connection: no setting, no lock, no transaction.
 *
 * Nothing is taken for granted either. Autocommit may be off, and a connection may come with a transaction that somebody
 * forgot: that is rolled back, and what was done in it is done again, so that a job neither vanishes with a stranger's
 * transaction nor commits it.
 *
 * A connection is given back only where it is known to be as good as before. One that did not answer in time, was lost,
 * or belongs to a node that takes no writes is destroyed; and from then on those that have not been used since, and may be
 * the same, are tried first.
 */
export class Connection {
  readonly #pool: Pool;
  readonly #texts: StatementTexts;
  readonly #options: ConnectionOptions;
  /** The connections that have answered since one was found broken. Null: none ever was. */
  #proven: WeakSet<object> | null = null;
  #glances = 0;
  #isAutocommit = true;
  #isClosed = false;

  constructor(pool: Pool, texts: StatementTexts, options: ConnectionOptions) {
    this.#pool = pool;
    this.#texts = texts;
    this.#options = options;
  }

  /** Statements that only read: each sees what is committed at its moment. */
  async read<T>(work: Work<T>, deadline = this.deadline()): Promise<T> {
    return this.#with(deadline, async (session) => {
      // Ends what may be open, in which a read would see the past. Its answer says whether autocommit is on.
      await session.control('rollback');
      this.#isAutocommit = session.isAutocommit;
      return work(session, this.#options.now());
    });
  }

  /** A read of which nothing depends: with half the statements, nearly always. */
  async glance<T>(work: Work<T>): Promise<T> {
    const isSure = this.#isAutocommit && this.#glances % GLANCES !== 0;
    this.#glances += 1;
    if (!isSure) return this.read(work);
    return this.#with(this.deadline(), (session) => work(session, this.#options.now()));
  }

  /** One statement that writes, a transaction of its own without saying so; sent again where it loses a race. */
  async alone<T>(work: Work<T>, deadline = this.deadline()): Promise<T> {
    const done = await this.#untilWon(() =>
      this.#with(deadline, async (session) => {
        const result = await work(session, this.#options.now());
        // Open: it was no transaction of its own. What it did is undone as the connection is left.
        return session.isOpen ? null : { result };
      }),
    );
    return done === null ? this.transaction(work, deadline) : done.result;
  }

  /** One transaction at READ COMMITTED, all or nothing; `work` is started anew where it loses a race. */
  async transaction<T>(work: Work<T>, deadline = this.deadline()): Promise<T> {
    return this.#untilWon(() =>
      this.#with(deadline, async (session) => {
        await begin(session);
        const result = await work(session, this.#options.now());
        await session.control('commit');
        return result;
      }),
    );
  }

  /** One connection, for what is neither: the tables' own statements. */
  async bare<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#with(this.deadline(), async (session) => {
      await session.control('rollback');
      return work(session);
    });
  }

  /** The statements on a connection of the application's, each sent once and as it is. */
  sessionOn(client: Queryable): Session {
    return new Session(client, this.#texts, null);
  }

  deadline(): Deadline {
    return new Deadline(this.#options.callTimeout * 1000);
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
  explained(error: unknown): unknown {
    const { table, failedTable } = this.#options;
    return errors.explained(error, `"${table}" and "${failedTable}"`);
  }

  async #with<T>(deadline: Deadline, work: (session: Session) => Promise<T>): Promise<T> {
    this.checkOpen();
    const client = await this.#checkOut(deadline);
    const late = () => errors.callTimedOut(this.#options.callTimeout);
    const session = new Session(client, this.#texts, { deadline, late });
    try {
      return await work(session);
    } catch (error) {
      throw this.explained(error);
    } finally {
      await session.leave();
      if (session.isBroken) this.#destroy(client);
      else client.release();
    }
  }

  async #checkOut(deadline: Deadline): Promise<PooledClient> {
    for (;;) {
      const client = await this.#take(deadline);
      const identity = identityOf(client);
      if (this.#proven === null || this.#proven.has(identity)) return client;
      const probe = new Session(client, this.#texts, {
        deadline: new Deadline(Math.min(PROBE_MS, deadline.leftMs)),
        late: () => this.#noConnection(),
      });
      try {
        await probe.run('state');
        this.#proven.add(identity);
        return client;
      } catch {
        destroy(client);
      }
    }
  }

  async #take(deadline: Deadline): Promise<PooledClient> {
    const taking = (async () => this.#pool.getConnection())();
    let isLate = false;
    const late = () => {
      isLate = true;
      return this.#noConnection();
    };
    taking.then(
      (client) => {
        if (isLate) client.release();
      },
      () => {},
    );
    return deadline.wait(taking, late);
  }

  #destroy(client: PooledClient): void {
    destroy(client);
    this.#proven = new WeakSet();
  }

  async #untilWon<T>(attempt: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (round === RACES || !errors.isLostRace(error)) throw error;
        await sleep(pauseMs(round));
      }
    }
  }

  #noConnection(): Error {
    return errors.noConnection(this.#options.callTimeout);
  }
}

async function begin(session: Session): Promise<void> {
  try {
    await session.control('readCommitted');
  } catch (error) {
    if (!errors.isTransactionOpen(error)) throw error;
    await session.control('rollback');
    await session.control('readCommitted');
  }
  // Whatever is between the two says its isolation to the application's next transaction: then the connection is broken.
  await session.control('begin');
}

/** Uneven, so that two who lost to each other do not keep step. */
function pauseMs(round: number): number {
  return Math.min(2 ** round, 100) * (0.5 + Math.random());
}
