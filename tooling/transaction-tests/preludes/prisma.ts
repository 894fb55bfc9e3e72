import { PrismaPg } from '@prisma/adapter-pg';
import { defineHandlers, job, Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';

const url = process.env.DATABASE_URL ?? '';
const pool = new pg.Pool({ connectionString: url });
const handlers = defineHandlers({ 'send-receipt': job<{ amount: number }>() });
const queue = new Queue({ driver: new PgDriver(pool), handlers });

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });

// What the lines go on with.
export { prisma, queue };
