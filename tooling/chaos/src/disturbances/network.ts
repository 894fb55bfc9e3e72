import { setTimeout as sleep } from 'node:timers/promises';
import type { Relay } from '@q/servers';
import { between } from '../random.js';
import type { Disturbance, StormInHand } from '../storm.js';

const SERVERS = ['postgres', 'mariadb', 'redis'] as const;

/** Again and again for a second: most connections are idle when they are cut, and hardly anybody notices. */
export const cutConnections: Disturbance = {
  name: 'connections cut',
  appliesTo: SERVERS,
  pauseMs: 800,
  async disturb(storm) {
    for (let cuts = 0; cuts < 10; cuts += 1) {
      relayOf(storm).cut();
      await sleep(between(storm.random, 20, 180));
    }
  },
};

/** Nothing arrives, and nothing says so. Half of the time what is there stays dead, and new connections go through. */
export const freezeConnections: Disturbance = {
  name: 'connections frozen',
  appliesTo: SERVERS,
  pauseMs: 1_500,
  async disturb(storm) {
    const relay = relayOf(storm);
    relay.freeze();
    await sleep(between(storm.random, 500, 6_500));
    if (storm.random() < 0.5) return relay.thaw('all');
    relay.thaw('new');
    // In the end the server, too, takes its side for dead.
    await sleep(1_500);
    relay.cut();
  },
};

function relayOf({ store }: StormInHand): Relay {
  if (store.relay === null) throw new Error(`${store.kind} has no network`);
  return store.relay;
}
