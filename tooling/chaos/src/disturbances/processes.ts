import { setTimeout as sleep } from 'node:timers/promises';
import { between } from '../random.js';
import { STORE_KINDS } from '../stores/start-store.js';
import type { Disturbance } from '../storm.js';

export const killWorkers: Disturbance = {
  name: 'workers killed',
  appliesTo: STORE_KINDS,
  pauseMs: 1_200,
  disturb: async ({ workers, random }) => void (await workers.signal(random, 'SIGKILL')),
};

export const killPushers: Disturbance = {
  name: 'pushers killed',
  appliesTo: STORE_KINDS,
  pauseMs: 1_000,
  disturb: async ({ pushers, random }) => void (await pushers.signal(random, 'SIGKILL')),
};

/** Stopped for longer than its claims last, it wakes up in the middle of jobs that are others' by now. */
export const stopWorkers: Disturbance = {
  name: 'workers stopped beyond their lease',
  appliesTo: STORE_KINDS,
  pauseMs: 500,
  async disturb({ workers, random, lease }) {
    const stopped = await workers.signal(random, 'SIGSTOP');
    await sleep(lease * 1000 + between(random, 500, 2_500));
    stopped?.kill('SIGCONT');
  },
};

/** Workers come and go by tens: in two such troubles more than a hundred, each with a second or two to live. */
export const joinAndLeave: Disturbance = {
  name: 'workers joining and leaving',
  appliesTo: STORE_KINDS,
  pauseMs: 600,
  async disturb({ workers, random }) {
    for (let waves = 0; waves < 5; waves += 1) {
      workers.resize(between(random, 13, 16));
      await sleep(between(random, 800, 1_500));
      workers.resize(2);
      await sleep(between(random, 100, 300));
    }
  },
};
