import { onFreePort } from './places.js';
import { REDIS, recipeOf, redisCall, started } from './redis.js';
import type { Server } from './server.js';
import { findSource } from './sources.js';

/** A master with one replica, and a sentinel that makes the replica the master when the master is gone. */
export interface WatchedRedis extends AsyncDisposable {
  /** What the sentinel calls them. */
  readonly name: string;
  readonly sentinel: Server;
  readonly nodes: readonly Server[];
  /** The node that is the master by the sentinel's lights. */
  master(): Promise<Server>;
  close(): Promise<void>;
}

const NAME = 'main';

/** Starts one on this machine; resolves when the replica has the master's data and the sentinel knows them both. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const found = await findSource(REDIS, { own: true });
  if (found.source !== 'binaries') {
    throw new Error('A sentinel needs the programs of Redis on this machine: install the package redis-server');
  }
  const servers: Server[] = [];
  const close = async () => {
    for (const server of servers.toReversed()) await server.close();
  };
  const start = async (settings: Readonly<Record<string, string>>, ...args: readonly string[]) => {
    const server = await onFreePort(async (port) => {
      const recipe = await recipeOf(found.folder, port, settings);
      const run = { ...recipe.run, args: [...recipe.run.args, ...args] };
      return started({ port, source: 'binaries', recipe: { ...recipe, run } });
    });
    servers.push(server);
    return server;
  };
  try {
    const first = await start(NODE);
    const second = await start({ ...NODE, replicaof: `${first.host} ${first.port}` });
    const watched = { 'sentinel monitor': `${NAME} ${first.host} ${first.port} 1`, ...SENTINEL };
    const sentinel = await start(watched, '--sentinel');
    const nodes = [first, second];
    await untilWatched(first, sentinel);
    const master = () => masterOf(sentinel, nodes);
    return { name: NAME, sentinel, nodes, master, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

const NODE = { save: '', appendonly: 'yes', appendfsync: 'no', 'repl-diskless-sync-delay': '0' };
const SENTINEL = {
  [`sentinel down-after-milliseconds ${NAME}`]: '1000',
  [`sentinel failover-timeout ${NAME}`]: '5000',
};

async function masterOf(sentinel: Server, nodes: readonly Server[]): Promise<Server> {
  const address = await redisCall(sentinel.url, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
  const port = Number((address as readonly string[])[1]);
  const node = nodes.find((one) => one.port === port);
  if (node === undefined) throw new Error(`The sentinel names a master on port ${port}, which is none of its nodes`);
  return node;
}

async function untilWatched(master: Server, sentinel: Server): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    const replication = String(await redisCall(master.url, 'INFO', 'replication'));
    const seen = String(await redisCall(sentinel.url, 'INFO', 'sentinel'));
    if (replication.includes('state=online') && /status=ok,.*slaves=1,/.test(seen)) return;
    if (performance.now() > end) throw new Error(`The sentinel saw no replica within 30 s:\n${replication}\n${seen}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
