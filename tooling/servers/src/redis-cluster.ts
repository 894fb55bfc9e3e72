import { onFreePort } from './places.js';
import { REDIS, recipeOf, redisCall, started } from './redis.js';
import type { Server } from './server.js';
import { findSource } from './sources.js';

/** Masters of a Redis Cluster, each with a part of the slots. */
export interface RedisCluster extends AsyncDisposable {
  readonly nodes: readonly Server[];
  /** The node that has the slot of this key. */
  nodeOf(key: string): Promise<Server>;
  close(): Promise<void>;
}

const SLOTS = 16_384;

/**
 * Starts a cluster of three masters on this machine, without replicas; resolves when each takes commands. It needs the
 * programs themselves: nodes in containers would tell their clients addresses that are of no use outside.
 */
export async function startRedisCluster(options: { readonly nodes?: number } = {}): Promise<RedisCluster> {
  const found = await findSource(REDIS, { own: true });
  if (found.source !== 'binaries') {
    throw new Error('A cluster needs the programs of Redis on this machine: install the package redis-server');
  }
  const nodes: Server[] = [];
  const close = async () => {
    for (const node of nodes) await node.close();
  };
  try {
    for (let n = 0; n < (options.nodes ?? 3); n += 1) nodes.push(await startNode(found.folder));
    await join(nodes);
  } catch (error) {
    await close();
    throw error;
  }
  return { nodes, nodeOf: (key) => nodeOf(nodes, key), close, [Symbol.asyncDispose]: close };
}

function startNode(binaries: string): Promise<Server> {
  return onFreePort((port) =>
    onFreePort(async (bus) => {
      const settings = {
        save: '',
        appendonly: 'yes',
        appendfsync: 'no',
        'cluster-enabled': 'yes',
        'cluster-node-timeout': '2000',
        // A node that is stopped takes its own slots along, not those of the others.
        'cluster-require-full-coverage': 'no',
        // Without, it would be 10,000 above the port, which need not be free, nor a port.
        'cluster-port': String(bus),
      };
      return started({ port, source: 'binaries', recipe: await recipeOf(binaries, port, settings) });
    }),
  );
}

async function join(nodes: readonly Server[]): Promise<void> {
  const [first, ...rest] = nodes;
  if (first === undefined) return;
  for (const [n, { url }] of nodes.entries()) {
    const from = Math.ceil((SLOTS * n) / nodes.length);
    const to = Math.ceil((SLOTS * (n + 1)) / nodes.length) - 1;
    const slots = Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
    await redisCall(url, 'CLUSTER', 'ADDSLOTS', ...slots);
  }
  const bus = await busPort(first);
  for (const { url } of rest) await redisCall(url, 'CLUSTER', 'MEET', first.host, String(first.port), bus);
  for (const { url } of nodes) await untilWhole(url, nodes.length);
}

/** The port on which a node talks to the others: `CLUSTER NODES` says `<id> <host>:<port>@<bus port> myself,…`. */
async function busPort({ url }: Server): Promise<string> {
  const text = String(await redisCall(url, 'CLUSTER', 'NODES'));
  return /@(\d+)\S* \S*myself/.exec(text)?.[1] ?? '';
}

async function untilWhole(url: string, nodes: number): Promise<void> {
  const end = performance.now() + 30_000;
  for (;;) {
    const info = String(await redisCall(url, 'CLUSTER', 'INFO'));
    const known = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
    const assigned = Number(/cluster_slots_ok:(\d+)/.exec(info)?.[1]);
    if (info.includes('cluster_state:ok') && known === nodes && assigned === SLOTS) return;
    if (performance.now() > end) throw new Error(`The nodes did not become a cluster within 30 s:\n${info}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function nodeOf(nodes: readonly Server[], key: string): Promise<Server> {
  for (const node of nodes) {
    const slot = Number(await redisCall(node.url, 'CLUSTER', 'KEYSLOT', key));
    if ((await slotsOf(node)).some(([low, high]) => slot >= low && slot <= high)) return node;
  }
  throw new Error(`No node has the slot of ${key}`);
}

/** What a node says of itself ends with its slots: `0-5460 5462`. */
async function slotsOf({ url }: Server): Promise<(readonly [low: number, high: number])[]> {
  const text = String(await redisCall(url, 'CLUSTER', 'NODES'));
  const own = /myself.* connected(.*)$/m.exec(text)?.[1] ?? '';
  return [...own.matchAll(/ (\d+)(?:-(\d+))?/g)].map(([, low, high]) => [Number(low), Number(high ?? low)] as const);
}
