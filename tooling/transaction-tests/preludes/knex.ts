import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import makeKnex from 'knex';
import pg from 'pg';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const knex = makeKnex({ client: 'pg', connection: url });

// What the lines go on with.
export { knex, queue };
