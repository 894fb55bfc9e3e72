import { defineHandlers, handler, Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';

const db = new Database('app.db');
db.pragma('journal_mode = WAL');
const driver = new SqliteDriver(db);
await driver.createTables();
const greet = handler(async ({ name }: { name: string }) => console.log(`hello ${name}`));
const queue = new Queue({ driver, handlers: defineHandlers({ greet }) });
await queue.push('greet', { name: 'Ada' });
