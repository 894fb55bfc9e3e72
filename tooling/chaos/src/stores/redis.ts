import { randomBytes } from 'node:crypto';
import { RedisDriver } from '@q/driver-redis';
import { startRedis, startRelay } from '@q/servers';
import { Redis } from 'ioredis';
import type { FinalState } from '../checker.js';
import { pushIn } from './rows.js';
import type { ChaosStore, Space } from './store.js';

export async function redisStore(): Promise<ChaosStore> {
  const server = await startRedis({ own: true });
  const relay = await startRelay(server.url);
  return {
    kind: 'redis',
    server,
    relay,
    disk: null,
    open: () => open(server.url, relay.url),
    async [Symbol.asyncDispose]() {
      await relay.close();
      await server.close();
    },
  };
}

async function open(serverUrl: string, relayUrl: string): Promise<Space> {
  const prefix = `chaos-${randomBytes(4).toString('hex')}`;
  const client = new Redis(serverUrl, { maxRetriesPerRequest: 20 });
  client.on('error', () => {});
  const through = new URL(relayUrl);
  through.hash = prefix;
  return {
    place: { kind: 'redis', url: through.href },
    left: () => countLeft(client, prefix),
    async finalState() {
      await using driver = new RedisDriver(client, { prefix });
      return await readState(client, driver, prefix);
    },
    async [Symbol.asyncDispose]() {
      const keys = await client.keys(`{${prefix}}:*`);
      if (keys.length > 0) await client.del(...keys);
      client.disconnect();
    },
  };
}

async function countLeft(client: Redis, prefix: string): Promise<number> {
  const count = async (pattern: string, of: (key: string) => Promise<number>) => {
    const keys = await client.keys(`{${prefix}}:${pattern}:*`);
    const counts = await Promise.all(keys.map(of));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  const ready = await count('ready', (key) => client.xlen(key));
  const claims = await count('claims', (key) => client.zcard(key));
  return ready + claims + (await count('delayed', (key) => client.zcard(key)));
}

/** Every id that was ever given is looked up: what the driver itself does not find is not there. */
async function readState(client: Redis, driver: RedisDriver, prefix: string): Promise<FinalState> {
  const last = Number((await client.get(`{${prefix}}:id`)) ?? 0);
  const jobs: FinalState['jobs'][number][] = [];
  const failed: FinalState['failed'][number][] = [];
  for (let id = 1; id <= last; id += 1) {
    const job = await driver.find(id);
    if (job !== null) jobs.push({ id, push: pushIn(job.payloadJson), unique: job.unique });
    const failure = await driver.findFailed(id);
    if (failure !== null) failed.push({ push: pushIn(failure.payloadJson) });
  }
  return { jobs, failed, effects: null };
}
