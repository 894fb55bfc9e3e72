import { notATransaction } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';
import { statementsThrough } from './statements.js';

/** What `db.transaction().execute` gives its callback, or `db.startTransaction()` resolves to. The `db` is not one. */
export interface KyselyTransaction {
  readonly isTransaction: true;
  withoutPlugins(): KyselyTransaction;
  executeQuery(query: KyselyQuery): Promise<{
    readonly rows: unknown[];
    readonly numAffectedRows?: bigint;
    readonly insertId?: bigint;
  }>;
}

/** A `CompiledQuery` of Kysely's. */
interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: 'RawNode';
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly [];
  };
  readonly queryId: { readonly queryId: string };
}

/** The transaction, for `within` and `complete`. Throws `invalid_transaction`, for the `db` above all. */
export function fromKysely(trx: KyselyTransaction): MysqlTransaction {
  if (trx?.isTransaction !== true) {
    throw notATransaction('fromKysely', 'the trx that db.transaction().execute gives its callback, not the db', trx);
  }
  // A plugin of the application's may rename the columns of what comes back.
  const plain = trx.withoutPlugins();
  return statementsThrough(async (sql) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const;
    const answer = await plain.executeQuery({ sql, parameters: [], query, queryId: { queryId: 'q' } });
    const { rows, numAffectedRows, insertId = 0n } = answer;
    return { rows, changed: numAffectedRows === undefined ? undefined : { rows: numAffectedRows, firstId: insertId } };
  });
}
