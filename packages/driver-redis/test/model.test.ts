import { describeModel } from '@q/conformance/model';
import { Redis } from 'ioredis';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';

const url = inject('redis');
const harness = harnessFor({ client: () => new Redis(url, { lazyConnect: true }), raw: () => new Redis(url) });
const few = { sequences: { runs: 40 }, schedules: { runs: 40 } };

describeModel({ describe, test }, 'RedisDriver', harness, few);
