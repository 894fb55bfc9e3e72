import type { MysqlStatements } from '../client.js';

/** What a library's own call for a statement gives: rows, or what was changed. */
export interface LibraryAnswer {
  readonly rows: readonly unknown[];
  readonly changed?: { readonly rows: bigint | number; readonly firstId: bigint } | undefined;
}

// As the server tells it of a transaction that is open, with autocommit to come back to.
const IN_TRANSACTION_WITH_AUTOCOMMIT = 3;

/**
 * A transaction over the one thing that a library which keeps its connection to itself offers: to send a statement in it.
 * Such a library does not pass on what the server says of the transaction; that it is open is the library's word.
 */
export function statementsThrough(send: (sql: string) => Promise<LibraryAnswer>): MysqlStatements {
  return {
    async sendStatement(sql) {
      const { rows, changed } = await send(sql);
      if (changed === undefined) return rows.map(textsOf);
      const { rows: affectedRows, firstId } = changed;
      return {
        affectedRows: Number(affectedRows),
        insertId: String(firstId),
        serverStatus: IN_TRANSACTION_WITH_AUTOCOMMIT,
      };
    },
  };
}

/** Every value as the text that the server sent, whatever the library made of it. */
function textsOf(row: unknown): Record<string, string | null> {
  return Object.fromEntries(Object.entries(row ?? {}).map(([column, value]) => [column, textOf(value)]));
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value);
}
