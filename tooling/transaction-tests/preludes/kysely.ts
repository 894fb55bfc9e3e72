import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import { type Generated, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const db = new Kysely<{ payments: { id: Generated<number>; amount: number } }>({
  dialect: new PostgresDialect({ pool }),
});

// What the lines go on with.
export { db, queue };
