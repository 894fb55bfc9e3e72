import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { type RedisCluster, startRedisCluster } from '@q/servers';
import { Cluster } from 'ioredis';
import { Cluster as OldestCluster } from 'ioredis-oldest';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { harnessFor } from './harness.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);
afterAll(() => cluster.close());

const nodes = () => cluster.nodes.map(({ host, port }) => ({ host, port }));
const raw = () => new Cluster(nodes());

const harness = harnessFor({ client: () => new Cluster(nodes(), { lazyConnect: true }), raw });

describeDriver({ describe, test }, 'RedisDriver on a cluster of three nodes', harness);
describeModel({ describe, test }, 'RedisDriver on a cluster of three nodes', harness, {
  sequences: { runs: 100 },
  schedules: { runs: 100 },
});
describeDriver(
  { describe, test },
  'RedisDriver on a cluster, on the oldest ioredis, with a prefix of the application’s and reads from replicas',
  harnessFor({
    client: () =>
      new OldestCluster(nodes(), {
        lazyConnect: true,
        keyPrefix: 'app:',
        scaleReads: 'slave',
        enableAutoPipelining: true,
        redisOptions: { keyPrefix: 'app:', stringNumbers: true, commandTimeout: 1 },
      }),
    raw,
  }),
);
