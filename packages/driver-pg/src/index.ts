export { assertTableName } from '@q/core/driver-kit';
export type { PgPool, PgPoolClient, PgQuery, PgResult, PgTransaction } from './client.js';
export type { ListenConfig, Notify, PgDriverOptions } from './options.js';
export { PgDriver } from './pg-driver.js';
export { schema } from './schema.js';
