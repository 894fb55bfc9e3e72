import { fromKysely as fromKyselyOnMysql } from '@q/driver-mysql/kysely';
import { fromKysely as fromKyselyOnPg } from '@q/driver-pg/kysely';
import { fromKysely as fromKyselyOnSqlite } from '@q/driver-sqlite/kysely';
import Database from 'better-sqlite3';
import {
  CamelCasePlugin,
  type ControlledTransaction,
  type Dialect,
  type Generated,
  Kysely,
  MysqlDialect,
  PostgresDialect,
  SqliteDialect,
  type Transaction,
} from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import type { Application, Inside } from '../application.js';

interface Tables {
  notes: { id: Generated<number>; text: string };
}

export async function onPostgres(connectionString: string) {
  return open(new PostgresDialect({ pool: new pg.Pool({ connectionString }) }), fromKyselyOnPg);
}

export async function onMysql(url: string) {
  return open(new MysqlDialect({ pool: mysql.createPool(url) }), fromKyselyOnMysql);
}

export async function onSqlite(file: string) {
  const sqlite = new Database(file);
  return open(new SqliteDialect({ database: sqlite }), (trx) => fromKyselyOnSqlite(trx, sqlite));
}

function open<Tx>(dialect: Dialect, fromKysely: (trx: Transaction<Tables>) => Tx): Application<Tx> {
  // The plugin: what it does to the names of columns must not reach q.
  const db = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] });
  const insideOf = (trx: Transaction<Tables>, nested: Inside<Tx>['nested']): Inside<Tx> => ({
    note: async (text) => trx.insertInto('notes').values({ text }).execute(),
    tx: () => fromKysely(trx),
    nested,
  });
  const controlled = (trx: ControlledTransaction<Tables, string[]>): Inside<Tx> =>
    insideOf(trx, async (work) => {
      const savepoint = await trx.savepoint('inner').execute();
      try {
        await work(controlled(savepoint));
      } catch (error) {
        await savepoint.rollbackToSavepoint('inner').execute();
        throw error;
      }
      await savepoint.releaseSavepoint('inner').execute();
    });
  return {
    transaction(work) {
      const nested = async () => {
        throw new Error('Kysely nests only in a controlled transaction');
      };
      return db.transaction().execute((trx) => work(insideOf(trx, nested)));
    },
    async nesting(work) {
      const trx = await db.startTransaction().execute();
      await work(controlled(trx));
      await trx.commit().execute();
    },
    async rolledBack(work) {
      const trx = await db.startTransaction().execute();
      await work(controlled(trx));
      await trx.rollback().execute();
    },
    // The cast: what the compiler refuses.
    mistaken: () => fromKysely(db as Transaction<Tables>),
    [Symbol.asyncDispose]: () => db.destroy(),
  };
}
