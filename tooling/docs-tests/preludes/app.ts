import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';

const db = new Database('app.db');
db.pragma('journal_mode = WAL');
const driver = new SqliteDriver(db);
await driver.createTables();

declare function isReady(month: string): boolean;
declare function send(month: string): Promise<void>;
