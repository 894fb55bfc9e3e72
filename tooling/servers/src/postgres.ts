import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { onFreePort, output, serverFolder, serverOwner } from './places.js';
import type { Server, Space, StartOptions } from './server.js';
import { dockerRecipe, findSource, folderWith, versionsIn, type Wanted } from './sources.js';
import { serverOfTheEnvironment, startSupervised } from './supervised-server.js';

const DEBIAN = '/usr/lib/postgresql';

const POSTGRES: Wanted = {
  name: 'Postgres',
  variable: 'Q_TEST_POSTGRES_URL',
  aptPackage: 'postgresql',
  image: 'postgres:17-alpine',
  findBinaries: () =>
    folderWith(
      'initdb',
      versionsIn(DEBIAN).map((version) => join(DEBIAN, version, 'bin')),
    ),
};

// What was committed is with the system, if not on the disk, so a killed server still finds it. With synchronous_commit off
// it would not.
const FAST = { fsync: 'off', full_page_writes: 'off' };

/** Starts a Postgres of its own kind of throw-away: superuser `postgres`, no password, database `postgres`. */
export async function startPostgres(options: StartOptions = {}): Promise<Server> {
  const { durable = false, own = false } = options;
  const found = await findSource(POSTGRES, { own });
  if (found.source === 'environment') return serverOfTheEnvironment(found.url);
  const settings = { max_connections: '200', ...(durable ? {} : FAST), ...options.settings };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return onFreePort((port) =>
    found.source === 'docker' ? inDocker(found.image, port, args) : fromBinaries(found.folder, port, args),
  );
}

/** An empty database of its own on the server, for one test file. */
export async function createPostgresDatabase(serverUrl: string): Promise<Space> {
  const name = `q_${randomBytes(6).toString('hex')}`;
  await asSuperuser(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const drop = () => asSuperuser(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return { url: url.href, drop, [Symbol.asyncDispose]: drop };
}

async function fromBinaries(binaries: string, port: number, args: readonly string[]): Promise<Server> {
  const owner = await serverOwner('postgres');
  const folder = serverFolder('postgres', owner);
  const data = join(folder, 'data');
  const initdb = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync', '-D', data];
  await output(join(binaries, 'initdb'), initdb, owner);
  const place = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  return started({
    url: urlOf(port),
    source: 'binaries',
    recipe: {
      run: { program: join(binaries, 'postgres'), args: [...place, ...args], ...owner },
      stop: 'SIGINT', // "fast": does not wait for clients to leave
      kill: 'SIGKILL',
      remove: { folder },
    },
  });
}

async function inDocker(image: string, port: number, args: readonly string[]): Promise<Server> {
  const env = { POSTGRES_HOST_AUTH_METHOD: 'trust' };
  const docker = dockerRecipe({ image, port, innerPort: 5432, env, args });
  return started({ url: urlOf(port), source: 'docker', ...docker });
}

function started(
  server: Pick<Parameters<typeof startSupervised>[0], 'url' | 'source' | 'recipe' | 'create'>,
): Promise<Server> {
  const { url } = server;
  const isReady = () => asSuperuser(url, 'SELECT 1').then(() => true);
  const readOnly = async (on: boolean) => {
    await asSuperuser(url, `ALTER SYSTEM SET default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await asSuperuser(url, 'SELECT pg_reload_conf()');
    await untilShown(url, 'default_transaction_read_only', on ? 'on' : 'off');
  };
  return startSupervised({ ...server, readiness: { isReady }, readOnly });
}

function urlOf(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** One statement on a connection of its own, on which writes are allowed even where the server is read-only. */
async function asSuperuser(url: string, sql: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c default_transaction_read_only=off',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Waits until new sessions have a setting: the server takes it in its own time. */
async function untilShown(url: string, setting: string, value: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(`SELECT current_setting('${setting}') AS value`);
    await client.end();
    if (rows[0]?.value === value) return;
  }
}
