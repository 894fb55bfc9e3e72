import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { type Server, startRedis } from '@q/servers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { harnessFor } from './harness.js';

describe.each([
  ['with an append-only file', { appendonly: 'yes', appendfsync: 'everysec' }],
  ['without any persistence', { appendonly: 'no', save: '' }],
])('On a Redis %s', (_, settings) => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis({ own: true, settings });
  }, 60_000);
  afterAll(() => server.close());

  const harness = harnessFor({
    // What a client does by itself when a connection is lost is nothing to the driver.
    client: () =>
      new Redis(server.url, {
        lazyConnect: true,
        retryStrategy: () => 10,
        maxRetriesPerRequest: null,
        autoResendUnfulfilledCommands: true,
        enableOfflineQueue: true,
      }),
    raw: () => new Redis(server.url),
  });
  describeDriver({ describe, test }, 'RedisDriver', harness);
  describeModel({ describe, test }, 'RedisDriver', harness, { sequences: { runs: 150 }, schedules: { runs: 150 } });
});
