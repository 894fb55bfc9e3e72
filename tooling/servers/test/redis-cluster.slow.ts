import { type RedisCluster, redisCall, startRedisCluster } from '@q/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);
afterAll(() => cluster.close());

describe('A cluster', () => {
  test('is of three masters, each with the slots that it says it has', async () => {
    expect(cluster.nodes.length).toBe(3);
    const seen = new Set<string>();
    for (let n = 0; n < 20; n += 1) {
      const node = await cluster.nodeOf(`key ${n}`);
      seen.add(node.url);
      expect(await redisCall(node.url, 'SET', `key ${n}`, '1')).toBe('OK');
    }
    expect(seen.size).toBe(3);
  });

  test('goes on without one of them, which has its data still when it is back', async () => {
    const node = await cluster.nodeOf('a');
    const other = cluster.nodes.find(({ url }) => url !== node.url);
    await redisCall(node.url, 'SET', 'a', '1');
    await node.kill();
    expect(await redisCall(other?.url ?? '', 'PING')).toBe('PONG');
    await node.start();
    // It answers before the others have taken it back.
    const read = () => redisCall(node.url, 'GET', 'a').catch(() => null);
    const end = performance.now() + 10_000;
    let value = await read();
    while (value === null && performance.now() < end) value = await read();
    expect(value).toBe('1');
  });
});
