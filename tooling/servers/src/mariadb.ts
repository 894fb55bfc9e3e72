import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { canDebootstrap, debianChroot } from './chroot.js';
import { FAST, settingArguments, started } from './mysql-family.js';
import { onFreePort, output, serverFolder, serverOwner } from './places.js';
import type { Server, StartOptions } from './server.js';
import { dockerRecipe, findSource, folderWith, hasDocker, type Wanted } from './sources.js';
import { serverOfTheEnvironment } from './supervised-server.js';

const MARIADB: Wanted = {
  name: 'MariaDB',
  variable: 'Q_TEST_MARIADB_URL',
  aptPackage: 'mariadb-server-core',
  image: 'mariadb:10.11',
  findBinaries: () => folderWith('mariadbd', ['/usr/sbin']),
};

const OLD = { variable: 'Q_TEST_OLD_MARIADB_URL', image: 'mariadb:10.5' };
const OLD_DEBIAN = { suite: 'bullseye', packages: ['mariadb-server-core-10.5'] };

const READ_ONLY = { on: ['SET GLOBAL read_only = 1'], off: ['SET GLOBAL read_only = 0'] };
const NO_PASSWORD = ['--auth-root-authentication-method=normal', '--skip-test-db'];

/** Starts the MariaDB that this machine has, or gets; on Debian 12 that is 10.11. Superuser `root`, no password. */
export async function startMariaDb(options: StartOptions = {}): Promise<Server> {
  const { own = false } = options;
  const found = await findSource(MARIADB, { own });
  if (found.source === 'environment') return serverOfTheEnvironment(found.url);
  const args = argumentsOf(options);
  return onFreePort((port) =>
    found.source === 'docker' ? inDocker(found.image, port, args) : fromBinaries(found.folder, port, args),
  );
}

/** Starts a MariaDB 10.5, which has neither SKIP LOCKED nor descending indexes. */
export async function startOldMariaDb(options: StartOptions = {}): Promise<Server> {
  const url = process.env[OLD.variable];
  if (options.own !== true && url !== undefined && url !== '') return serverOfTheEnvironment(url);
  const args = argumentsOf(options);
  if (await hasDocker()) return onFreePort((port) => inDocker(OLD.image, port, args));
  if (!canDebootstrap()) {
    throw new Error(
      `These tests need MariaDB 10.5, and there is none: set ${OLD.variable} to the URL of a server, start Docker, or run ` +
        'them as root on Debian, which can fetch one',
    );
  }
  const root = await debianChroot(OLD_DEBIAN);
  return onFreePort((port) => fromChroot(root, port, args));
}

function argumentsOf({ durable = false, settings = {} }: StartOptions): string[] {
  return settingArguments({ 'max-connections': '300', ...(durable ? {} : FAST), ...settings });
}

async function fromBinaries(binaries: string, port: number, args: readonly string[]): Promise<Server> {
  const owner = await serverOwner('mysql');
  const folder = serverFolder('mariadb', owner);
  const data = `--datadir=${join(folder, 'data')}`;
  const install = folderWith('mariadb-install-db', [join(binaries, '..', 'bin')]);
  if (install === null) throw new Error('There is a mariadbd without its mariadb-install-db, which its data need');
  await output(join(install, 'mariadb-install-db'), ['--no-defaults', data, ...NO_PASSWORD], owner);
  const place = [data, `--port=${port}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`];
  return started({
    port,
    source: 'binaries',
    readOnly: READ_ONLY,
    recipe: {
      run: {
        program: join(binaries, 'mariadbd'),
        args: ['--no-defaults', ...place, '--bind-address=127.0.0.1', ...args],
        ...owner,
      },
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
  const data = ['--no-defaults', '--user=root', `--datadir=${inside}/data`];
  // --force: the machine's own name need not be known inside.
  await output('chroot', [root, 'mysql_install_db', ...data, '--force', ...NO_PASSWORD]);
  const place = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${inside}/socket`, `--pid-file=${inside}/pid`];
  return started({
    port,
    source: 'binaries',
    readOnly: READ_ONLY,
    recipe: {
      run: { program: 'chroot', args: [root, 'mariadbd', ...data, ...place, ...args] },
      stop: 'SIGTERM',
      kill: 'SIGKILL',
      remove: { folder },
    },
  });
}

async function inDocker(image: string, port: number, args: readonly string[]): Promise<Server> {
  const env = { MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: '1' };
  const docker = dockerRecipe({ image, port, innerPort: 3306, env, args });
  return started({ port, source: 'docker', readOnly: READ_ONLY, ...docker });
}
