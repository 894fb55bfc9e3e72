import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';
import type { Recipe } from './recipe.js';
import type { Server, ServerSource, Space } from './server.js';
import { startSupervised } from './supervised-server.js';

/** What MySQL and MariaDB have in common. */
export interface Started {
  readonly port: number;
  readonly source: ServerSource;
  readonly recipe: Recipe;
  readonly create?: readonly string[];
  /** The statements that make it refuse writes, and take them again. */
  readonly readOnly: { readonly on: readonly string[]; readonly off: readonly string[] };
}

// A killed server still finds what was committed: the system has it, though the disk may not.
export const FAST = {
  'innodb-flush-log-at-trx-commit': '2',
  'innodb-flush-method': 'nosync',
  'innodb-doublewrite': '0',
  'innodb-buffer-pool-size': '128M',
} as const;

/** Starts what a recipe says, as `root` without a password. */
export function started({ port, source, recipe, create, readOnly }: Started): Promise<Server> {
  const url = `mysql://root@127.0.0.1:${port}`;
  return startSupervised({
    url,
    source,
    recipe,
    ...(create === undefined ? {} : { create }),
    readiness: { isReady: () => asRoot(url, ['SELECT 1']).then(() => true), patienceMs: 60_000 },
    readOnly: (on) => asRoot(url, on ? readOnly.on : readOnly.off),
  });
}

/** `--name=value` of each setting; one without a value is `--name`. */
export function settingArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => (value === '' ? `--${name}` : `--${name}=${value}`));
}

/**
 * An empty database of its own on the server, for one test file, and a user of the same name who may do anything in it
 * and nothing else: an administrator could write to a server that is read-only.
 */
export async function createMysqlDatabase(serverUrl: string): Promise<Space> {
  const name = `q_${randomBytes(6).toString('hex')}`;
  const users = ['%', 'localhost'].map((host) => `'${name}'@'${host}'`);
  await asRoot(serverUrl, [
    `CREATE DATABASE ${name} CHARACTER SET utf8mb4`,
    ...users.map((user) => `CREATE USER ${user}`),
    ...users.map((user) => `GRANT ALL ON ${name}.* TO ${user}`),
  ]);
  const url = new URL(serverUrl);
  url.username = name;
  url.password = '';
  url.pathname = `/${name}`;
  const drop = () => {
    return asRoot(serverUrl, [
      `DROP DATABASE IF EXISTS ${name}`,
      ...users.map((user) => `DROP USER IF EXISTS ${user}`),
    ]);
  };
  return { url: url.href, drop, [Symbol.asyncDispose]: drop };
}

/** Statements one by one on a connection of their own. */
async function asRoot(serverUrl: string, statements: readonly string[]): Promise<void> {
  const connection = await mysql.createConnection({ uri: serverUrl, connectTimeout: 5_000 });
  connection.on('error', () => {});
  try {
    for (const statement of statements) await connection.query(statement);
  } finally {
    connection.destroy();
  }
}
