import { PgDriver } from '@q/driver-pg';
import { createPostgresDatabase, startPostgres, startRelay } from '@q/servers';
import pg from 'pg';
import { EFFECTS } from './client.js';
import { readFinalState } from './rows.js';
import type { ChaosStore, Space } from './store.js';

export async function postgresStore(): Promise<ChaosStore> {
  const server = await startPostgres({ own: true });
  const relay = await startRelay(server.url);
  return {
    kind: 'postgres',
    server,
    relay,
    open: () => open(server.url, relay.url),
    async [Symbol.asyncDispose]() {
      await relay.close();
      await server.close();
    },
  };
}

async function open(serverUrl: string, relayUrl: string): Promise<Space> {
  const database = await createPostgresDatabase(serverUrl);
  const pool = new pg.Pool({ connectionString: database.url, max: 2, connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {});
  await new PgDriver(pool).createTables();
  await pool.query(`CREATE TABLE ${EFFECTS} (push text NOT NULL)`);
  const through = new URL(relayUrl);
  through.pathname = new URL(database.url).pathname;
  const all = async (sql: string) => (await pool.query(sql)).rows;
  return {
    place: { kind: 'postgres', url: through.href },
    left: async () => Number((await pool.query('SELECT count(*) FROM queue_jobs')).rows[0]?.count),
    finalState: () => readFinalState(all),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database.drop();
    },
  };
}
