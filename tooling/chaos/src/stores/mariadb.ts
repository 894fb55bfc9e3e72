import { MysqlDriver } from '@q/driver-mysql';
import { createMysqlDatabase, startMariaDb, startRelay } from '@q/servers';
import mysql from 'mysql2/promise';
import { EFFECTS } from './client.js';
import { readFinalState } from './rows.js';
import type { ChaosStore, Space } from './store.js';

export async function mariadbStore(): Promise<ChaosStore> {
  const server = await startMariaDb({ own: true });
  const relay = await startRelay(server.url);
  return {
    kind: 'mariadb',
    server,
    relay,
    disk: null,
    open: () => open(server.url, relay.url),
    async [Symbol.asyncDispose]() {
      await relay.close();
      await server.close();
    },
  };
}

async function open(serverUrl: string, relayUrl: string): Promise<Space> {
  const database = await createMysqlDatabase(serverUrl);
  const pool = mysql.createPool({ uri: database.url, connectionLimit: 2, connectTimeout: 5_000 });
  await new MysqlDriver(pool).createTables();
  await pool.query(`CREATE TABLE ${EFFECTS} (push varchar(190) NOT NULL)`);
  const through = new URL(database.url);
  through.port = new URL(relayUrl).port;
  // The cast: every statement of ours is a SELECT.
  const all = async (sql: string) => (await pool.query(sql))[0] as object[];
  return {
    place: { kind: 'mariadb', url: through.href },
    left: async () => (await all('SELECT id FROM queue_jobs')).length,
    finalState: () => readFinalState(all),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database.drop();
    },
  };
}
