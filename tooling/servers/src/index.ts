export { startMariaDb, startOldMariaDb } from './mariadb.js';
export { startMysql } from './mysql.js';
export { createMysqlDatabase } from './mysql-family.js';
export { type PgBouncerOptions, startPgBouncer } from './pgbouncer.js';
export { createPostgresDatabase, startPostgres } from './postgres.js';
export { redisCall, startRedis } from './redis.js';
export { type RedisCluster, startRedisCluster } from './redis-cluster.js';
export { type Relay, startRelay } from './relay.js';
export type { Server, ServerSource, Space, StartOptions } from './server.js';
