import { PgDriver } from '@q/driver-pg';
import pg from 'pg';
import { type Client, type ClientOptions, EFFECTS, type OpenTransaction } from './client.js';

// A statement that the server refused, rather than one that a crash or a cut broke off.
const REFUSALS = ['23', '25', '42', '53'];

export function connectPostgres(url: string, { now, callTimeout }: ClientOptions): Client {
  const pool = new pg.Pool({ connectionString: url, max: 8, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {});
  const driver = new PgDriver(pool, { now, callTimeout, onWarning: () => {} });
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
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  return severity === 'ERROR' && typeof code === 'string' && REFUSALS.includes(code.slice(0, 2));
}

async function begin(pool: pg.Pool, driver: PgDriver, callTimeout: number): Promise<OpenTransaction> {
  // By a callback: a promise tells of the client some microtasks after the pool let go of it, with nobody listening.
  const client = await new Promise<pg.PoolClient>((resolve, reject) => {
    pool.connect((error, taken) => {
      if (taken === undefined) return reject(error);
      taken.on('error', ignore);
      resolve(taken);
    });
  });
  const giveBack = (error?: unknown) => {
    client.off('error', ignore);
    client.release(error instanceof Error ? error : false);
  };
  // A frozen network answers nothing, and the application has a deadline of its own.
  const query = (text: string, values: unknown[] = []) =>
    client.query({ text, values, query_timeout: callTimeout * 1000 } as pg.QueryConfig);
  try {
    await query('BEGIN');
  } catch (error) {
    giveBack(error);
    throw error;
  }
  return {
    tx: client,
    jobs: driver.within(client),
    async leaveEffect(push) {
      await query(`INSERT INTO ${EFFECTS} VALUES ($1)`, [push]);
    },
    async commit() {
      await query('COMMIT');
      giveBack();
    },
    rollback: () => query('ROLLBACK').then(() => giveBack(), giveBack),
  };
}

function ignore(): void {}
