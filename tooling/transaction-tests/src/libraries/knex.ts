import { fromKnex as fromKnexOnMysql } from '@q/driver-mysql/knex';
import { fromKnex as fromKnexOnPg } from '@q/driver-pg/knex';
import { fromKnex as fromKnexOnSqlite } from '@q/driver-sqlite/knex';
import knex, { type Knex } from 'knex';
import type { Application, Inside } from '../application.js';

type FromKnex<Tx> = (trx: Knex.Transaction) => Promise<Tx>;

export const onPostgres = (url: string) => open({ client: 'pg', connection: url }, fromKnexOnPg);
export const onMysql = (url: string) => open({ client: 'mysql2', connection: url }, fromKnexOnMysql);
export const onSqlite = (filename: string) => {
  return open({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true }, fromKnexOnSqlite);
};

async function open<Tx>(config: Knex.Config, fromKnex: FromKnex<Tx>): Promise<Application<Tx>> {
  const db = knex(config);
  const insideOf = (trx: Knex.Transaction): Inside<Tx> => ({
    note: async (text) => trx('notes').insert({ text }),
    tx: () => fromKnex(trx),
    nested: (work) => trx.transaction((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => db.transaction((trx) => work(insideOf(trx))),
    async rolledBack(work) {
      const trx = await db.transaction();
      await work(insideOf(trx));
      await trx.rollback();
    },
    // The cast: what the compiler refuses.
    mistaken: () => fromKnex(db as Knex.Transaction),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}
