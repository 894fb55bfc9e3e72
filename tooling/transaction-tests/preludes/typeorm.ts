import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const Payment = new EntitySchema<{ id: number; amount: number }>({
  name: 'payment',
  tableName: 'payments',
  columns: { id: { type: Number, primary: true, generated: true }, amount: { type: Number } },
});
const dataSource = await new DataSource({ type: 'postgres', url, entities: [Payment] }).initialize();

// What the lines go on with.
export { dataSource, Payment, queue };
