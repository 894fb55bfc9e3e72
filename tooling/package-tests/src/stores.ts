import { createMysqlDatabase, createPostgresDatabase } from '@q/servers';
import type {} from '@q/servers/vitest/mariadb';
import type {} from '@q/servers/vitest/postgres';
import type {} from '@q/servers/vitest/redis';
import { inject } from 'vitest';

/** One store: what a stranger installs for it, and where their queue is. */
export interface Store {
  readonly driver: string;
  readonly client: string;
  /** Where the client brings no types of its own. */
  readonly types?: string;
  /** The client's part that no bundle can hold: a program in machine code, or what it only tries to load. */
  readonly external: readonly string[];
  /** What the client compiles when it is installed, where no binary can be downloaded: a minute, so once for each version. */
  readonly compiled?: string;
  /** An empty store, for the programs of one file of tests. */
  open(folder: string): Promise<string>;
}

export const STORES = {
  pg: {
    driver: '@q/driver-pg',
    client: 'pg',
    types: '@types/pg',
    external: ['pg-native'],
    open: async () => (await createPostgresDatabase(inject('postgres'))).url,
  },
  mysql: {
    driver: '@q/driver-mysql',
    client: 'mysql2',
    external: [],
    open: async () => (await createMysqlDatabase(inject('mariadb'))).url,
  },
  redis: {
    driver: '@q/driver-redis',
    client: 'ioredis',
    external: [],
    open: async () => inject('redis'),
  },
  sqlite: {
    driver: '@q/driver-sqlite',
    client: 'better-sqlite3',
    types: '@types/better-sqlite3',
    external: ['better-sqlite3'],
    compiled: 'build/Release/better_sqlite3.node',
    open: async (folder) => `${folder}/jobs.db`,
  },
} as const satisfies Record<string, Store>;

export const CLIENTS: readonly string[] = Object.values(STORES).map(({ client }) => client);
