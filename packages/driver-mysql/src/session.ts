import type { Queryable, QueryOptions } from './client.js';
import type { Deadline } from './deadline.js';
import { leavesConnectionSound } from './errors.js';
import { type Parameters, render } from './literals.js';
import type { StatementName, StatementTexts } from './statements.js';

/** What a statement that gives no rows has done. */
export interface Changes {
  /** Rows that it inserted, deleted or found to update. */
  readonly rows: number;
  /** The id that was given; of several rows the first one's. */
  readonly id: bigint;
}

// Flags of the server's status, which comes with every answer that has no rows.
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * How every answer is read: rows as objects, each value as the text that the server sent, in UTF-8. So none of the conversions
 * that the application chose for its pool (times, big numbers, decimals, JSON, a typeCast of its own) is ever asked.
 */
const RAW: Omit<QueryOptions, 'sql'> = {
  rowsAsArray: false,
  namedPlaceholders: false,
  nestTables: false,
  typeCast: (field) => field.string('utf8'),
};

/** The statements on one connection, and what is known of the connection from their answers. */
export class Session {
  readonly #client: Queryable;
  readonly #texts: StatementTexts;
  readonly #limit: { readonly deadline: Deadline; readonly late: () => Error } | null;
  /** Whether a transaction is open, as the server last said. */
  isOpen = false;
  isAutocommit = true;
  /** Whether it must not be given back to the pool: it did not answer, was lost, or its state is not known any more. */
  isBroken = false;
  #isUncertain = false;

  /** Without a `limit`, as on a connection of the application's, an answer is waited for as long as it takes. */
  constructor(
    client: Queryable,
    texts: StatementTexts,
    limit: { readonly deadline: Deadline; readonly late: () => Error } | null,
  ) {
    this.#client = client;
    this.#texts = texts;
    this.#limit = limit;
  }

  async run(name: StatementName, parameters: Parameters = {}): Promise<Changes> {
    return this.#changes(await this.#send(render(this.#texts[name], parameters)));
  }

  /** One that begins or ends a transaction: where it fails, nothing is known of the connection any more. */
  async control(name: 'readCommitted' | 'begin' | 'commit' | 'rollback'): Promise<void> {
    this.isBroken = true;
    await this.run(name);
    this.isBroken = false;
  }

  /** A statement that is not in the list: the schema's. */
  async define(text: string): Promise<void> {
    this.#changes(await this.#send(text));
  }

  /** One that is not in the list: a diagnosis asks what the queue never does. */
  async look<Row>(text: string, parameters: Parameters = {}): Promise<Row[]> {
    // The cast: a SELECT is answered by rows.
    return (await this.#send(render(text, parameters))) as Row[];
  }

  /** `Row` is what the statement's columns say, every one of them text or null; nothing checks it. */
  async all<Row>(name: StatementName, parameters: Parameters = {}): Promise<Row[]> {
    // The cast: a SELECT is answered by rows.
    return (await this.#send(render(this.#texts[name], parameters))) as Row[];
  }

  async first<Row>(name: StatementName, parameters: Parameters = {}): Promise<Row | undefined> {
    return (await this.all<Row>(name, parameters))[0];
  }

  /** Leaves no transaction open, as far as can be. Never throws. */
  async leave(): Promise<void> {
    const mayBeOpen = this.isOpen || !this.isAutocommit || this.#isUncertain;
    if (!mayBeOpen || this.isBroken) return;
    try {
      await this.control('rollback');
    } catch {
      // It is broken now, and the server rolls back what it loses.
    }
  }

  async #send(sql: string): Promise<unknown> {
    try {
      const sending = this.#client.query({ ...RAW, sql });
      const [answer] = await (this.#limit === null ? sending : this.#limit.deadline.wait(sending, this.#limit.late));
      return answer;
    } catch (error) {
      this.#isUncertain = true;
      if (!leavesConnectionSound(error)) this.isBroken = true;
      throw error;
    }
  }

  #changes(answer: unknown): Changes {
    // The cast: what mysql2 gives for an answer without rows. Numbers that are large come as text.
    const { affectedRows, insertId, serverStatus } = answer as {
      readonly affectedRows: number | string;
      readonly insertId: number | string;
      readonly serverStatus: number;
    };
    this.isOpen = (serverStatus & IN_TRANSACTION) !== 0;
    this.isAutocommit = (serverStatus & AUTOCOMMIT) !== 0;
    this.#isUncertain = false;
    return { rows: Number(affectedRows), id: BigInt.asUintN(64, BigInt(insertId)) };
  }
}
