import { Queue } from '@q/core';
import { MysqlDriver } from '@q/driver-mysql';
import mysql from 'mysql2/promise';
import { handlers } from './handlers.js';

export async function openQueue(url: string) {
  const pool = mysql.createPool(url);
  const driver = new MysqlDriver(pool);
  await driver.createTables();
  const close = async () => {
    await driver.close();
    await pool.end();
  };
  return { queue: new Queue({ driver, handlers }), close };
}
