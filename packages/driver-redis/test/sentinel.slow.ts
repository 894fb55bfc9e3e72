import { randomBytes } from 'node:crypto';
import { defineHandlers, handler, Queue, Worker } from '@q/core';
import { redisCall, startWatchedRedis, type WatchedRedis } from '@q/servers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RedisDriver } from '../src/index.js';
import { pause, SOON_MS, until } from './fixtures.js';
import { Stored } from './stored.js';

let redis: WatchedRedis;
beforeAll(async () => {
  redis = await startWatchedRedis();
}, 60_000);
afterAll(() => redis.close());

type Data = { readonly n: number };

/** A client of an application that reads from replicas, which is nothing to the driver. */
function aClient(role: 'master' | 'slave'): Redis {
  const { name, sentinel } = redis;
  const client = new Redis({
    sentinels: [{ host: sentinel.host, port: sentinel.port }],
    name,
    role,
    lazyConnect: true,
  });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

async function working() {
  const prefix = `test_${randomBytes(6).toString('hex')}`;
  const done: number[] = [];
  const handlers = defineHandlers({ work: handler(async ({ n }: Data) => void done.push(n)) });
  const open = () => {
    const driver = new RedisDriver(aClient('slave'), { prefix, callTimeout: 3 });
    onTestFinished(() => driver.close());
    return new Queue({ driver, handlers, backoff: 0 });
  };
  const worker = new Worker({ queue: open(), sleep: 0.5, maxReserveFailures: 0, lease: 3 });
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
        if (tries === 400) throw error;
        await pause(50);
      }
    }
  };
  return { queue, push, done, prefix };
}

/** Until the replica has what the master has: what it had not received, a failover would lose. */
async function untilReplicated(): Promise<void> {
  const { url } = await redis.master();
  const offsets = async () => {
    const text = String(await redisCall(url, 'INFO', 'replication'));
    const [, replica] = /slave0:.*state=online,offset=(\d+)/.exec(text) ?? [];
    const [, master] = /master_repl_offset:(\d+)/.exec(text) ?? [];
    return replica !== undefined && replica === master;
  };
  await until('the replica has everything', offsets, 30_000);
}

describe('a worker and a producer of an application that asks a sentinel', () => {
  it.each([
    [
      'when the nodes change places',
      async () => void (await redisCall(redis.sentinel.url, 'SENTINEL', 'FAILOVER', redis.name)),
    ],
    ['when the master is killed', async () => (await redis.master()).kill()],
  ])('go on on the new master by themselves %s, with what was replicated', async (_, failOver) => {
    const { queue, push, done, prefix } = await working();
    await push(0);
    await until('it was run', () => done.includes(0));
    await queue.push('work', { n: 1 }, { delay: 3, unique: 'k' });
    await untilReplicated();
    const old = await redis.master();
    await failOver();
    await until('another is the master', async () => (await redis.master()).url !== old.url, 60_000);
    // Until the old one is told that it is a replica now, it takes pushes, and they are lost.
    const isRun = async () => {
      await push(2);
      await pause(200);
      return done.includes(2);
    };
    await until('a push is run', isRun, SOON_MS);
    await until('the delayed one, too', () => done.includes(1), 60_000);
    const client = aClient('master');
    await client.connect();
    await until('nothing is left', async () => (await new Stored(client, prefix).keys()).length === 1, 30_000);
    // What the old one was told after the new one had been made is lost, too: a job that was done may run again.
    expect([...new Set(done)].toSorted()).toStrictEqual([0, 1, 2]);
  });
});
