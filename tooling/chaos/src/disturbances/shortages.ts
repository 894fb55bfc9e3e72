import { setTimeout as sleep } from 'node:timers/promises';
import { redisCall } from '@q/servers';
import { between } from '../random.js';
import type { Disturbance } from '../storm.js';
import { serverOf, startAgain } from './servers.js';

/** Not a byte is left. SQLite refuses; Postgres, where it cannot write its log, goes down and comes back by itself or not. */
export const fillDisk: Disturbance = {
  name: 'disk full',
  appliesTo: ['postgres', 'sqlite'],
  needsSmallDisk: true,
  pauseMs: 1_500,
  async disturb({ store, random }) {
    if (store.disk === null) throw new Error('this store is not on a disk that may be filled');
    store.disk.fill();
    await sleep(between(random, 500, 2_500));
    store.disk.empty();
    if (store.server !== null) await startAgain(store.server);
  },
};

/** Redis may use no more memory than it does, and evicts nothing. */
export const fillMemory: Disturbance = {
  name: 'Redis out of memory',
  appliesTo: ['redis'],
  pauseMs: 1_000,
  async disturb(storm) {
    const { url } = serverOf(storm);
    await redisCall(url, 'CONFIG', 'SET', 'maxmemory', '1');
    await sleep(between(storm.random, 300, 2_500));
    await redisCall(url, 'CONFIG', 'SET', 'maxmemory', '0');
  },
};
