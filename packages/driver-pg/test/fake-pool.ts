import type { PgPool, PgPoolClient, PgQuery, PgResult } from '../src/index.js';

/** What the server says to a statement, told by its first word. */
export type Answer = (word: string, query: PgQuery) => Promise<Partial<PgResult>> | Partial<PgResult>;

/** A pool without a server, that counts what becomes of its connections. */
export class FakePool implements PgPool {
  readonly options = {};
  readonly sent: string[] = [];
  outstanding = 0;
  givenBack = 0;
  destroyed = 0;
  /** Listeners for errors on connections that were given back. */
  leftBehind = 0;
  idleCount = 0;
  readonly #answer: Answer;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  get totalCount(): number {
    return this.outstanding + this.idleCount;
  }

  async connect(): Promise<PgPoolClient> {
    this.outstanding += 1;
    let listeners = 0;
    return {
      escapeIdentifier: (text) => text,
      on: () => {
        listeners += 1;
      },
      removeListener: () => {
        listeners -= 1;
      },
      query: async (query) => {
        const word = query.text.trim().split(/\s/)[0] ?? '';
        this.sent.push(word);
        const { rows = [], rowCount = rows.length } = await this.#answer(word, query);
        return { rows, rowCount };
      },
      release: (error) => {
        this.outstanding -= 1;
        if (error) this.destroyed += 1;
        else {
          this.givenBack += 1;
          this.leftBehind += listeners;
        }
      },
    };
  }
}

/** An error as the server sends it. */
export function serverError(code: string): Error {
  return Object.assign(new Error(`error ${code}`), { code, severity: 'ERROR' });
}
