import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, serial } from 'drizzle-orm/pg-core';
import pg from 'pg';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const db = drizzle(pool);
const payments = pgTable('payments', { id: serial().primaryKey(), amount: integer().notNull() });

// What the lines go on with.
export { db, payments, queue };
