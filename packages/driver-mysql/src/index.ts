export { assertTableName } from '@q/core/driver-kit';
export type { MysqlConnection, MysqlPool, MysqlStatements, MysqlTransaction } from './client.js';
export { MysqlDriver } from './mysql-driver.js';
export type { MysqlDriverOptions } from './options.js';
export { schema } from './schema.js';
