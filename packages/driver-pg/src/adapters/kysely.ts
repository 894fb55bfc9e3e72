import { notATransaction } from '@q/core/driver-kit';
import type { PgTransaction } from '../client.js';
import { statementClient } from './statement-client.js';

/** What `db.transaction().execute` gives its callback, or `db.startTransaction()` resolves to. The `db` is not one. */
export interface KyselyTransaction {
  readonly isTransaction: true;
  withoutPlugins(): KyselyTransaction;
  executeQuery(query: KyselyQuery): Promise<{ readonly rows: unknown[]; readonly numAffectedRows?: bigint }>;
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

/** The transaction as a client. Throws `invalid_transaction`, for the `db` above all. */
export function fromKysely(trx: KyselyTransaction): PgTransaction {
  if (trx?.isTransaction !== true) {
    throw notATransaction('fromKysely', 'the trx that db.transaction().execute gives its callback, not the db', trx);
  }
  // A plugin of the application's may rename the columns of what comes back.
  const plain = trx.withoutPlugins();
  return statementClient(async (sql, parameters) => {
    const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const;
    const { rows, numAffectedRows } = await plain.executeQuery({ sql, parameters, query, queryId: { queryId: 'q' } });
    return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) };
  });
}
