import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const Payment = new EntitySchema<{ id: number; amount: number }>({
  name: 'Payment',
  tableName: 'payments',
  properties: { id: { type: 'number', primary: true }, amount: { type: 'number' } },
});
const orm = await MikroORM.init({ clientUrl: url, entities: [Payment] });
const em = orm.em.fork();

// What the lines go on with.
export { em, Payment, queue };
