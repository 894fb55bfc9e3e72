import { redisCall, startWatchedRedis, type WatchedRedis } from '@q/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let redis: WatchedRedis;
beforeAll(async () => {
  redis = await startWatchedRedis();
}, 60_000);
afterAll(() => redis.close());

describe('A Redis with a sentinel', () => {
  test('has a replica, which has what the master has, and becomes the master when that is killed', async () => {
    const [first, second] = redis.nodes;
    expect((await redis.master()).url).toBe(first?.url);
    await redisCall(first?.url ?? '', 'SET', 'a', '1');
    // To the next write of a connection, all of it: this one has none, so the replica may be a moment behind.
    const end = performance.now() + 10_000;
    while ((await redisCall(second?.url ?? '', 'GET', 'a')) === null && performance.now() < end);
    expect(await redisCall(second?.url ?? '', 'GET', 'a')).toBe('1');
    await first?.kill();
    while ((await redis.master()).url !== second?.url && performance.now() < end + 60_000);
    expect((await redis.master()).url).toBe(second?.url);
  });
});
