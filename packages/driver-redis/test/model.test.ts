import { describeModel } from '@q/conformance/model';
import { Redis } from 'ioredis';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';
import { inIdOrder } from './in-id-order.js';

const url = inject('redis');
const harness = harnessFor({ client: () => new Redis(url, { lazyConnect: true }), raw: () => new Redis(url) });
const few = { sequences: { runs: 40 }, schedules: { runs: 40 } };

describeModel({ describe, test }, 'RedisDriver', inIdOrder(harness), few);
