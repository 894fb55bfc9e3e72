import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { type RedisCluster, redisCall, startRedisCluster } from '@q/servers';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RedisDriver } from '../src/index.js';
import { aJob, pause, refusalOf, SOON_MS, until } from './fixtures.js';
import { Stored } from './stored.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);
afterAll(() => cluster.close());

type Data = { readonly n: number };

function aCluster(): Cluster {
  const client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })));
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** A worker and a producer on the cluster, under a prefix of their own, and the node that has it. */
async function working() {
  const prefix = `test_${randomBytes(6).toString('hex')}`;
  const done: number[] = [];
  const handlers = defineHandlers({ work: handler(async ({ n }: Data) => void done.push(n)) });
  const open = () => {
    const driver = new RedisDriver(aCluster(), { prefix, callTimeout: 3 });
    onTestFinished(() => driver.close());
    return new Queue({ driver, handlers, backoff: 0 });
  };
  const worker = new Worker({ queue: open(), sleep: 0.5, maxReserveFailures: 0, concurrency: 3, lease: 3 });
  const run = worker.run();
  onTestFinished(async () => {
    await worker.stop({ timeout: 2 });
    await run;
  });
  const queue = open();
  const push = async (n: number) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await queue.push('work', { n });
      } catch (error) {
        if (tries === 200) throw error;
        await pause(50);
      }
    }
  };
  const raw = new Stored(aCluster(), prefix);
  return { queue, push, done, raw, node: await cluster.nodeOf(raw.key('id')), prefix };
}

describe('a worker on a cluster', () => {
  it.each(['stop', 'kill'] as const)('goes on soon after its node was gone (%s)', async (how) => {
    const { queue, push, done, node, raw } = await working();
    await push(0);
    await until('it was run', () => done.includes(0));
    await node[how]();
    const error = await refusalOf(queue.push('work', { n: 1 }));
    expect(['store_unavailable', 'outcome_unknown', 'call_timeout']).toContain((error as { code?: string }).code);
    await node.start();
    await push(2);
    await until('the next was run', () => done.includes(2), SOON_MS);
    await until('nothing is left', async () => (await raw.jobs()).length === 0);
    expect(done.filter((n) => n === 1)).toStrictEqual([]);
  });

  it('does not notice that another node is gone', async () => {
    const { push, done, node } = await working();
    await push(0);
    await until('it was run', () => done.includes(0));
    const other = cluster.nodes.find(({ url }) => url !== node.url);
    await other?.stop();
    for (let n = 1; n <= 20; n += 1) await push(n);
    await until('all were run', () => done.length === 21, SOON_MS);
    await other?.start();
  });

  it('runs a hundred jobs once each while its node forgets the scripts and breaks connections', async () => {
    const { push, done, node, raw } = await working();
    for (let n = 0; n < 100; n += 1) {
      if (n % 3 === 0) await redisCall(node.url, 'SCRIPT', 'FLUSH');
      if (n % 10 === 0) await redisCall(node.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await push(n);
    }
    await until('all were run', () => new Set(done).size === 100, 20_000);
    await until('nothing is left', async () => (await raw.jobs()).length === 0, 10_000);
    // Ten times, a push whose answer was lost may have been repeated by this test, and three completions run again.
    expect(done.length).toBeLessThanOrEqual(100 + 10 * 4);
  });

  it('and its producers follow the slot of their prefix to another node, jobs in hand and all', async () => {
    const { queue, push, done, node, raw } = await working();
    const target = cluster.nodes.find(({ url }) => url !== node.url);
    if (target === undefined) throw new Error('there are three');
    await queue.push('work', { n: -1 }, { delay: 6 });
    let isMoving = true;
    let pushed = 0;
    const pushing = (async () => {
      for (; isMoving || pushed < 50; pushed += 1) await push(pushed);
    })();
    await moveSlot(node.url, target.url, raw.key('id'));
    isMoving = false;
    await pushing;
    expect((await cluster.nodeOf(raw.key('id'))).url).toBe(target.url);
    await until('all were run', () => new Set(done).size === pushed + 1, 20_000);
    expect(done).toContain(-1);
    await until('nothing is left', async () => (await raw.jobs()).length === 0, 10_000);
  });
});

describe('a cluster that refuses the password', () => {
  it('is the error, and neither the password nor the payload is in it', async () => {
    for (const { url } of cluster.nodes) await redisCall(url, 'ACL', 'SETUSER', 'queue', 'on', '>right', '~*', '+@all');
    const client = new Cluster(
      cluster.nodes.map(({ host, port }) => ({ host, port })),
      { lazyConnect: true, redisOptions: { username: 'queue', password: 'the-password' } },
    );
    const driver = new RedisDriver(client);
    onTestFinished(() => driver.close());
    const error = await refusalOf(driver.push(aJob({ payload: { text: 'the-payload' } })));
    expect(String(error)).toContain('WRONGPASS');
    const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null });
    expect(shown).not.toMatch(/the-payload|the-password/);
  });
});

/** Moves the slot of a key from one node to another as redis-cli would: key by key, while both are in use. */
async function moveSlot(from: string, to: string, key: string): Promise<void> {
  const slot = String(await redisCall(from, 'CLUSTER', 'KEYSLOT', key));
  const [source, target] = [
    String(await redisCall(from, 'CLUSTER', 'MYID')),
    String(await redisCall(to, 'CLUSTER', 'MYID')),
  ];
  await redisCall(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', source);
  await redisCall(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
  const { hostname, port } = new URL(to);
  for (;;) {
    const keys = (await redisCall(from, 'CLUSTER', 'GETKEYSINSLOT', slot, '3')) as string[];
    if (keys.length === 0) break;
    await redisCall(from, 'MIGRATE', hostname, port, '', '0', '1000', 'KEYS', ...keys);
    await pause(50);
  }
  for (const { url } of cluster.nodes) await redisCall(url, 'CLUSTER', 'SETSLOT', slot, 'NODE', target);
}
