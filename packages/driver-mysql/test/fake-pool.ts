import type { MysqlPool } from '../src/index.js';

/** What the server says to a statement, told by its first word: nothing is an answer without rows. */
export type Answer = (word: string, sql: string) => Promise<unknown> | unknown;

const OPEN = 3;
const AUTOCOMMIT = 2;

/** A pool without a server, that counts what becomes of its connections. */
export class FakePool implements MysqlPool {
  /** What tells that its methods give promises. */
  readonly Promise = Promise;
  readonly sent: string[] = [];
  outstanding = 0;
  givenBack = 0;
  destroyed = 0;
  readonly #answer: Answer;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  async query(): Promise<never> {
    throw new Error('a driver takes a connection');
  }

  async getConnection() {
    this.outstanding += 1;
    let serverStatus = AUTOCOMMIT;
    let isOurs = true;
    const end = () => {
      if (isOurs) this.outstanding -= 1;
      isOurs = false;
    };
    return {
      query: async ({ sql }: { sql: string }) => {
        const word = sql.trim().split(/\s/)[0] ?? '';
        this.sent.push(word);
        const answer = await this.#answer(word, sql);
        if (answer !== undefined) return [answer];
        if (word === 'START') serverStatus = OPEN;
        if (word === 'COMMIT' || word === 'ROLLBACK') serverStatus = AUTOCOMMIT;
        return [word === 'SELECT' ? [] : { affectedRows: 1, insertId: 1, serverStatus }];
      },
      release: () => {
        end();
        this.givenBack += 1;
      },
      destroy: () => {
        end();
        this.destroyed += 1;
      },
    };
  }
}
