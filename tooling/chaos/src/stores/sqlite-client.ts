import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { type Client, type ClientOptions, EFFECTS, type OpenTransaction } from './client.js';

// The application waits for other writers inside SQLite, for a short while, and then tries again.
const BUSY_MS = 100;

export function connectSqlite(file: string, { now, callTimeout }: ClientOptions): Client {
  const db = new Database(file, { timeout: BUSY_MS });
  const driver = new SqliteDriver(db, { now, callTimeout, onWarning: () => {} });
  return {
    driver,
    transactions: { begin: () => begin(file, { now, callTimeout }) },
    // Every error is one: SQLite has either done what it was told, or says that it has not.
    isRefusal: () => true,
    admitsDoubt: () => false,
    async close() {
      await driver.close();
      db.close();
    },
  };
}

/** On a connection of its own, since several handlers may be in a transaction at once. */
async function begin(file: string, { now, callTimeout }: ClientOptions): Promise<OpenTransaction> {
  const db = new Database(file, { timeout: BUSY_MS });
  const driver = new SqliteDriver(db, { now, onWarning: () => {} });
  const end = async () => {
    await driver.close();
    db.close();
  };
  try {
    await untilBegun(db, callTimeout);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    tx: db,
    jobs: driver.within(db),
    async leaveEffect(push) {
      db.prepare(`INSERT INTO ${EFFECTS} VALUES (?)`).run(push);
    },
    async commit() {
      db.exec('COMMIT');
      await end();
    },
    async rollback() {
      if (db.open && db.inTransaction) db.exec('ROLLBACK');
      await end();
    },
  };
}

async function untilBegun(db: Database.Database, callTimeout: number): Promise<void> {
  const end = performance.now() + callTimeout * 1000;
  for (;;) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
