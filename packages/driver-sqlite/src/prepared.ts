import type { SqliteDatabase, SqliteStatement } from './database.js';
import type { StatementName, StatementTexts } from './statements.js';

/** What a statement may be given: nothing that a client could take for anything but a value. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>;

/** The statements on one connection, each prepared when it is first used. */
export class PreparedStatements {
  readonly db: SqliteDatabase;
  readonly #texts: StatementTexts;
  readonly #prepared = new Map<StatementName, SqliteStatement>();

  constructor(db: SqliteDatabase, texts: StatementTexts) {
    this.db = db;
    this.#texts = texts;
  }

  /** How many rows a statement changed. */
  run(name: StatementName, parameters: Parameters = {}): number {
    return this.#statement(name).run(parameters).changes;
  }

  /** `Row` is what the statement's columns say; nothing checks it. */
  all<Row>(name: StatementName, parameters: Parameters = {}): Row[] {
    return this.#statement(name).all(parameters) as Row[];
  }

  /**
   * The first row. Not better-sqlite3's `get`: that stops at the first row and drops whatever the end of the statement
   * has to say, so that an INSERT … RETURNING whose commit is refused would look as if it had happened.
   */
  first<Row>(name: StatementName, parameters: Parameters = {}): Row | undefined {
    return this.all<Row>(name, parameters)[0];
  }

  #statement(name: StatementName): SqliteStatement {
    let statement = this.#prepared.get(name);
    if (statement === undefined) {
      statement = this.db.prepare(this.#texts[name]);
      // Said for each statement, so that the connection's default does not matter. An id that was just given has to be
      // known exactly even where it is too high for a number, to take back that very row.
      statement.safeIntegers(name === 'insertJob' || name === 'requeueFailed');
      this.#prepared.set(name, statement);
    }
    return statement;
  }
}
