import { Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { handlers } from './handlers.js';

export async function openQueue(url: string) {
  const db = new Database(url);
  db.pragma('journal_mode = WAL');
  const driver = new SqliteDriver(db);
  await driver.createTables();
  const close = async () => {
    await driver.close();
    db.close();
  };
  return { queue: new Queue({ driver, handlers }), close };
}
