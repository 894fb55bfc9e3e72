import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { onFreePort, serverFolder, serverOwner } from './places.js';
import type { Server } from './server.js';
import { canInstall, folderWith, installPackage } from './sources.js';
import { startSupervised } from './supervised-server.js';

const FOLDERS = ['/usr/sbin'];

export interface PgBouncerOptions {
  /** Connections to each database of the server, shared by all clients. */
  readonly poolSize: number;
}

/**
 * Starts a PgBouncer in transaction mode in front of a Postgres: each transaction of a client may run on another of its
 * few connections. The server's own databases are there by their names.
 */
export async function startPgBouncer(serverUrl: string, { poolSize }: PgBouncerOptions): Promise<Server> {
  const binaries = await findBinaries();
  const owner = await serverOwner('postgres');
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  return onFreePort(async (port) => {
    const folder = serverFolder('pgbouncer', owner);
    const files = {
      'users.txt': `"${username}" ""\n`,
      'pgbouncer.ini': `\
[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
admin_users = ${username}
`,
    };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, name), text);
      if (owner.uid !== undefined && owner.gid !== undefined) chownSync(join(folder, name), owner.uid, owner.gid);
    }
    const url = `postgres://${username}@127.0.0.1:${port}/postgres`;
    return startSupervised({
      url,
      source: 'binaries',
      recipe: {
        run: { program: join(binaries, 'pgbouncer'), args: [join(folder, 'pgbouncer.ini')], ...owner },
        stop: 'SIGTERM',
        kill: 'SIGKILL',
        remove: { folder },
      },
      readiness: { isReady: () => answers(url) },
      readOnly: async () => {
        throw new Error('A pooler cannot be made read-only: make its server so');
      },
    });
  });
}

async function findBinaries(): Promise<string> {
  const there = folderWith('pgbouncer', FOLDERS);
  if (there !== null) return there;
  if (canInstall()) await installPackage('pgbouncer');
  const installed = folderWith('pgbouncer', FOLDERS);
  if (installed !== null) return installed;
  throw new Error('These tests need PgBouncer, and there is none: install the package pgbouncer');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}
