import type { Client, ClientOptions, Place, StoreKind } from './client.js';
import { connectMysql } from './mysql-client.js';
import { connectPostgres } from './pg-client.js';
import { connectRedis } from './redis-client.js';
import { connectSqlite } from './sqlite-client.js';

const CONNECT: { readonly [K in StoreKind]: (url: string, options: ClientOptions) => Client } = {
  postgres: connectPostgres,
  mariadb: connectMysql,
  sqlite: connectSqlite,
  redis: connectRedis,
};

/** What a process of a storm works with. Connects to nothing before it is used. */
export function connect({ kind, url }: Place, options: ClientOptions): Client {
  return CONNECT[kind](url, options);
}
