import type { MysqlTransaction } from '@q/driver-mysql';
import { fromDrizzle as fromDrizzleOnMysql } from '@q/driver-mysql/drizzle';
import type { PgTransaction } from '@q/driver-pg';
import { fromDrizzle as fromDrizzleOnPg } from '@q/driver-pg/drizzle';
import { TransactionRollbackError } from 'drizzle-orm';
import { int as mysqlInt, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle as drizzleOnMysql, type MySql2Database } from 'drizzle-orm/mysql2';
import { drizzle as drizzleOnPg, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, serial, text } from 'drizzle-orm/pg-core';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { Application, Inside } from '../application.js';

const pgNotes = pgTable('notes', { id: serial().primaryKey(), text: text().notNull() });
const mysqlNotes = mysqlTable('notes', {
  id: mysqlInt().autoincrement().primaryKey(),
  text: varchar({ length: 100 }).notNull(),
});

type PgTx = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];
type MysqlTx = Parameters<Parameters<MySql2Database['transaction']>[0]>[0];

export async function onPostgres(connectionString: string): Promise<Application<PgTransaction>> {
  const pool = new pg.Pool({ connectionString });
  const db = drizzleOnPg(pool);
  const insideOf = (tx: PgTx): Inside<PgTransaction> => ({
    note: async (note) => tx.insert(pgNotes).values({ text: note }),
    tx: () => fromDrizzleOnPg(tx),
    nested: (work) => tx.transaction((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => db.transaction((tx) => work(insideOf(tx))),
    rolledBack: (work) => rolledBack(db.transaction((tx) => work(insideOf(tx)).then(() => tx.rollback()))),
    // The cast: what the compiler refuses.
    mistaken: () => fromDrizzleOnPg(db as unknown as PgTx),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

export async function onMysql(url: string): Promise<Application<MysqlTransaction>> {
  const pool = mysql.createPool(url);
  const db = drizzleOnMysql(pool);
  const insideOf = (tx: MysqlTx): Inside<MysqlTransaction> => ({
    note: async (note) => tx.insert(mysqlNotes).values({ text: note }),
    tx: () => fromDrizzleOnMysql(tx),
    nested: (work) => tx.transaction((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => db.transaction((tx) => work(insideOf(tx))),
    rolledBack: (work) => rolledBack(db.transaction((tx) => work(insideOf(tx)).then(() => tx.rollback()))),
    // The cast: what the compiler refuses.
    mistaken: () => fromDrizzleOnMysql(db as unknown as MysqlTx),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** `tx.rollback()` rolls back by throwing this, which is also what the caller gets. */
async function rolledBack(transaction: Promise<unknown>): Promise<void> {
  await transaction.catch((error: unknown) => {
    if (!(error instanceof TransactionRollbackError)) throw error;
  });
}
