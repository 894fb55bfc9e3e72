import { MysqlDriver } from '@q/driver-mysql';
import mysql from 'mysql2/promise';
import { type Client, type ClientOptions, EFFECTS, type OpenTransaction } from './client.js';

// 1290, 1792, 1836: read-only. 1040, 1203: too many connections.
const REFUSALS = [1290, 1792, 1836, 1040, 1203];

export function connectMysql(url: string, { now, callTimeout }: ClientOptions): Client {
  const pool = mysql.createPool({ uri: url, connectionLimit: 8, connectTimeout: 5_000 });
  const driver = new MysqlDriver(pool, { now, callTimeout, onWarning: () => {} });
  return {
    driver,
    transactions: { begin: () => begin(pool, driver, callTimeout) },
    isRefusal,
    admitsDoubt: (error) => !isRefusal(error),
    async close() {
      await driver.close();
      await pool.end();
    },
  };
}

function isRefusal(error: unknown): boolean {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  return typeof errno === 'number' && REFUSALS.includes(errno);
}

async function begin(pool: mysql.Pool, driver: MysqlDriver, callTimeout: number): Promise<OpenTransaction> {
  const connection = await pool.getConnection();
  const query = (sql: string, values: string[] = []) =>
    connection.query({ sql, values, timeout: callTimeout * 1000 }).then(() => {});
  try {
    await query('START TRANSACTION');
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    tx: connection,
    jobs: driver.within(connection),
    leaveEffect: (push) => query(`INSERT INTO ${EFFECTS} VALUES (?)`, [push]),
    async commit() {
      await query('COMMIT');
      connection.release();
    },
    rollback: () =>
      query('ROLLBACK').then(
        () => connection.release(),
        () => connection.destroy(),
      ),
  };
}
