import { PgDriver } from '@q/driver-pg';
import { createPostgresDatabase, startPostgres, startRelay } from '@q/servers';
import pg from 'pg';
import { EFFECTS } from './client.js';
import { readFinalState } from './rows.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';
import type { ChaosStore, Space } from './store.js';

// What an empty server needs, and a little more.
const DISK_MB = 200;

export async function postgresStore(options: { readonly smallDisk: boolean }): Promise<ChaosStore> {
  const disk = options.smallDisk ? mountSmallDisk(DISK_MB) : null;
  const server = await startOn(disk);
  const relay = await startRelay(server.url);
  return {
    kind: 'postgres',
    server,
    relay,
    disk,
    open: () => open(server.url, relay.url),
    async [Symbol.asyncDispose]() {
      await relay.close();
      await server.close();
      disk?.[Symbol.dispose]();
    },
  };
}

/** A server takes a folder under the system's temporary one, which the environment names. */
async function startOn(disk: SmallDisk | null) {
  const temporary = process.env.TMPDIR;
  if (disk !== null) process.env.TMPDIR = disk.folder;
  try {
    return await startPostgres({ own: true, settings: disk === null ? {} : { max_wal_size: '32MB' } });
  } catch (error) {
    disk?.[Symbol.dispose]();
    throw error;
  } finally {
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
  }
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
