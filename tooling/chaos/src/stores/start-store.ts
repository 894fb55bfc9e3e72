import type { StoreKind } from './client.js';
import { mariadbStore } from './mariadb.js';
import { postgresStore } from './postgres.js';
import { redisStore } from './redis.js';
import { sqliteStore } from './sqlite.js';
import type { ChaosStore } from './store.js';

interface StartStoreOptions {
  /** Its data on a disk that a storm may fill: for Postgres and SQLite. */
  readonly smallDisk: boolean;
}

const START: { readonly [K in StoreKind]: (options: StartStoreOptions) => Promise<ChaosStore> } = {
  postgres: postgresStore,
  mariadb: mariadbStore,
  sqlite: sqliteStore,
  redis: redisStore,
};

// The cast: the keys of an object literal.
export const STORE_KINDS = Object.keys(START) as StoreKind[];

export function startStore(kind: StoreKind, options: StartStoreOptions = { smallDisk: false }): Promise<ChaosStore> {
  return START[kind](options);
}
