import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { canDebootstrap, debianChroot } from './chroot.js';
import { FAST, settingArguments, started } from './mysql-family.js';
import { onFreePort, output, serverFolder, serverOwner } from './places.js';
import type { Server, StartOptions } from './server.js';
import { dockerRecipe, folderWith, hasDocker } from './sources.js';
import { serverOfTheEnvironment } from './supervised-server.js';

const VARIABLE = 'Q_TEST_MYSQL_URL';
const IMAGE = 'mysql:9';
// Debian's stable releases have MariaDB alone.
const DEBIAN = { suite: 'sid', packages: ['mysql-server-core'] };

const READ_ONLY = {
  on: ['SET GLOBAL super_read_only = 1'],
  off: ['SET GLOBAL super_read_only = 0', 'SET GLOBAL read_only = 0'],
};

/** Starts a real MySQL, 9 where none is on the machine. Superuser `root`, no password. */
export async function startMysql(options: StartOptions = {}): Promise<Server> {
  const { durable = false, own = false, settings = {} } = options;
  const url = process.env[VARIABLE];
  if (!own && url !== undefined && url !== '') return serverOfTheEnvironment(url);
  const fast = durable ? {} : { ...FAST, 'skip-log-bin': '', 'performance-schema': 'OFF' };
  const args = settingArguments({ 'max-connections': '300', mysqlx: 'OFF', ...fast, ...settings });
  const binaries = folderWith('mysqld', ['/usr/sbin']);
  if (binaries !== null && isMysql(join(binaries, 'mysqld'))) {
    return onFreePort((port) => fromBinaries(join(binaries, 'mysqld'), port, args));
  }
  if (await hasDocker()) return onFreePort((port) => inDocker(port, args));
  if (!canDebootstrap()) {
    throw new Error(
      `These tests need MySQL, and there is none: set ${VARIABLE} to the URL of a server, install the package ` +
        'mysql-server-core, start Docker, or run them as root on Debian, which can fetch one',
    );
  }
  const root = await debianChroot(DEBIAN);
  return onFreePort((port) => fromChroot(root, port, args));
}

/** Many systems call MariaDB mysqld too. */
function isMysql(program: string): boolean {
  return !/mariadb/i.test(execFileSync(program, ['--no-defaults', '--version'], { encoding: 'utf8' }));
}

async function fromBinaries(program: string, port: number, args: readonly string[]): Promise<Server> {
  const owner = await serverOwner('mysql');
  const folder = serverFolder('mysql', owner);
  const data = ['--no-defaults', '--secure-file-priv=NULL', `--datadir=${join(folder, 'data')}`];
  await output(program, [...data, '--initialize-insecure'], owner);
  return started({
    port,
    source: 'binaries',
    readOnly: READ_ONLY,
    recipe: {
      run: { program, args: [...data, ...place(folder, port), ...args], ...owner },
      stop: 'SIGTERM',
      kill: 'SIGKILL',
      remove: { folder },
    },
  });
}

async function fromChroot(root: string, port: number, args: readonly string[]): Promise<Server> {
  mkdirSync(join(root, 'srv'), { recursive: true });
  const folder = mkdtempSync(join(root, 'srv', 'q-'));
  // As it is called from inside.
  const inside = folder.slice(root.length);
  const data = ['--no-defaults', '--secure-file-priv=NULL', '--user=root', `--datadir=${inside}/data`];
  await output('chroot', [root, 'mysqld', ...data, '--initialize-insecure']);
  return started({
    port,
    source: 'binaries',
    readOnly: READ_ONLY,
    recipe: {
      run: { program: 'chroot', args: [root, 'mysqld', ...data, ...place(inside, port), ...args] },
      stop: 'SIGTERM',
      kill: 'SIGKILL',
      remove: { folder },
    },
  });
}

function place(folder: string, port: number): string[] {
  const files = [`--socket=${folder}/socket`, `--pid-file=${folder}/pid`];
  return [`--port=${port}`, '--bind-address=127.0.0.1', ...files];
}

async function inDocker(port: number, args: readonly string[]): Promise<Server> {
  const env = { MYSQL_ALLOW_EMPTY_PASSWORD: '1' };
  const docker = dockerRecipe({ image: IMAGE, port, innerPort: 3306, env, args });
  return started({ port, source: 'docker', readOnly: READ_ONLY, ...docker });
}
