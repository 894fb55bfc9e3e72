import { defineHandlers, job, Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';

const db = drizzle(new Database(process.env.DATABASE_URL));
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new SqliteDriver(db.$client), handlers });
const payments = sqliteTable('payments', { id: integer().primaryKey(), amount: integer().notNull() });

// What the lines go on with.
export { db, payments, queue };
