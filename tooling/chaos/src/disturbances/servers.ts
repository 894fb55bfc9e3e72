import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@q/servers';
import { between } from '../random.js';
import type { Disturbance, StormInHand } from '../storm.js';

const SERVERS = ['postgres', 'mariadb', 'redis'] as const;

export const killServer: Disturbance = {
  name: 'server killed and restarted',
  appliesTo: SERVERS,
  pauseMs: 2_500,
  async disturb(storm) {
    const server = serverOf(storm);
    await server.kill();
    await sleep(between(storm.random, 100, 1_500));
    await startAgain(server);
  },
};

export const readOnlyServer: Disturbance = {
  name: 'server read-only',
  appliesTo: SERVERS,
  pauseMs: 1_500,
  async disturb(storm) {
    const server = serverOf(storm);
    await server.readOnly(true);
    await sleep(between(storm.random, 300, 2_500));
    await server.readOnly(false);
  },
};

/** What a killed server left running may keep a new one from starting, for a moment. */
export async function startAgain(server: Server): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await server.start();
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(300);
    }
  }
}

export function serverOf({ store }: Pick<StormInHand, 'store'>): Server {
  if (store.server === null) throw new Error(`${store.kind} has no server`);
  return store.server;
}
