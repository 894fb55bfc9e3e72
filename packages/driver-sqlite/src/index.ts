export { assertTableName } from '@q/core/driver-kit';
export type { SqliteDatabase, SqliteStatement } from './database.js';
export type { SqliteDriverOptions } from './options.js';
export { schema } from './schema.js';
export { SqliteDriver } from './sqlite-driver.js';
