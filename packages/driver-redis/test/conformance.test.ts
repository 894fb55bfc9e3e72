import { describeDriver } from '@q/conformance';
import type {} from '@q/servers/vitest/redis';
import { Redis } from 'ioredis';
import { Redis as OldestRedis } from 'ioredis-oldest';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';

const url = inject('redis');
const raw = () => new Redis(url);

describeDriver(
  { describe, test },
  'RedisDriver',
  harnessFor({ client: () => new Redis(url, { lazyConnect: true }), raw }),
);
describeDriver(
  { describe, test },
  'RedisDriver on the oldest ioredis, with every option that could change what a client does',
  harnessFor({
    client: () =>
      new OldestRedis(url, {
        lazyConnect: true,
        keyPrefix: 'app:',
        enableAutoPipelining: true,
        stringNumbers: true,
        commandTimeout: 1,
        maxRetriesPerRequest: null,
        connectionName: 'the application',
        showFriendlyErrorStack: true,
      }),
    raw,
  }),
);
