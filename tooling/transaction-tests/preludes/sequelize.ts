import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';
import { DataTypes, Sequelize } from 'sequelize';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const sequelize = new Sequelize(url, { logging: false });
const Payment = sequelize.define(
  'payment',
  { amount: DataTypes.INTEGER },
  { tableName: 'payments', timestamps: false },
);

// What the lines go on with.
export { Payment, queue, sequelize };
