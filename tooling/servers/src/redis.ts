import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onFreePort, serverFolder, serverOwner } from './places.js';
import type { Server, StartOptions } from './server.js';
import { dockerRecipe, findSource, folderWith, type Wanted } from './sources.js';
import { serverOfTheEnvironment, startSupervised } from './supervised-server.js';

export const REDIS: Wanted = {
  name: 'Redis',
  variable: 'Q_TEST_REDIS_URL',
  aptPackage: 'redis-server',
  image: 'redis:7-alpine',
  findBinaries: () => folderWith('redis-server', ['/usr/bin', '/usr/local/bin']),
};

// A killed server still finds what it has answered: the system has it, though the disk may not.
const FAST = { save: '', appendonly: 'yes', appendfsync: 'no', 'auto-aof-rewrite-percentage': '0' };

/**
 * Starts a Redis, without a password, whose database 0 is empty. By default it appends to a file and leaves it to the
 * system when that is written; `durable` is for the server's own defaults, which are snapshots, and no such file.
 */
export async function startRedis(options: StartOptions = {}): Promise<Server> {
  const { durable = false, own = false } = options;
  const found = await findSource(REDIS, { own });
  if (found.source === 'environment') return serverOfTheEnvironment(found.url);
  const settings = { ...(durable ? {} : FAST), ...options.settings };
  return onFreePort(async (port) => {
    if (found.source === 'docker') {
      const args = ['redis-server', ...settingArguments(settings)];
      return started({
        port,
        source: 'docker',
        ...dockerRecipe({ image: found.image, port, innerPort: 6379, env: {}, args }),
      });
    }
    return started({ port, source: 'binaries', recipe: await recipeOf(found.folder, port, settings) });
  });
}

/** How to run a server in a folder of its own. */
export async function recipeOf(binaries: string, port: number, settings: Readonly<Record<string, string>>) {
  const owner = await serverOwner('redis');
  const folder = serverFolder('redis', owner);
  // In a file, since a few settings, `user` among them, cannot be given on the command line.
  const file = join(folder, 'redis.conf');
  const all = { bind: '127.0.0.1', port: String(port), dir: folder, ...settings };
  writeFileSync(
    file,
    Object.entries(all)
      .map(([name, value]) => `${name} ${value === '' ? '""' : value}\n`)
      .join(''),
  );
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(file, owner.uid, owner.gid);
  return {
    run: { program: join(binaries, 'redis-server'), args: [file], ...owner },
    stop: 'SIGTERM',
    kill: 'SIGKILL',
    remove: { folder },
  } as const;
}

interface Started {
  readonly port: number;
  readonly source: Parameters<typeof startSupervised>[0]['source'];
  readonly recipe: Parameters<typeof startSupervised>[0]['recipe'];
  readonly create?: readonly string[];
}

/** Starts what a recipe says. */
export function started({ port, ...server }: Started): Promise<Server> {
  const url = `redis://127.0.0.1:${port}`;
  return startSupervised({
    url,
    ...server,
    readiness: { isReady: async () => (await redisCall(url, 'PING')) === 'PONG' },
    // As the old master after a failover: a replica, of a master that is nowhere.
    readOnly: async (on) => {
      await redisCall(url, 'REPLICAOF', ...(on ? ['127.0.0.1', '1'] : ['NO', 'ONE']));
    },
  });
}

/** One command on a connection of its own. */
export async function redisCall(url: string, command: string, ...args: readonly string[]): Promise<unknown> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 5_000,
    // A replica without a master answers what is asked of it, but is never ready by ioredis's lights while it loads.
    enableReadyCheck: false,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(command, ...args);
  } finally {
    client.disconnect();
  }
}

function settingArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}
