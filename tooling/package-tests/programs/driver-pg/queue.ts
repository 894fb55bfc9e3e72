import { Queue } from '@q/core';
import { PgDriver } from '@q/driver-pg';
import pg from 'pg';
import { handlers } from './handlers.js';

export async function openQueue(url: string) {
  const pool = new pg.Pool({ connectionString: url });
  pool.on('error', (error) => console.error(error));
  const driver = new PgDriver(pool);
  await driver.createTables();
  const close = async () => {
    await driver.close();
    await pool.end();
  };
  return { queue: new Queue({ driver, handlers }), close };
}
