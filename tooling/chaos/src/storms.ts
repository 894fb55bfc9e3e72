import { clockAhead, clockBehind } from './disturbances/clocks.js';
import { cutConnections, freezeConnections } from './disturbances/network.js';
import { joinAndLeave, killPushers, killWorkers, stopWorkers } from './disturbances/processes.js';
import { killServer, readOnlyServer } from './disturbances/servers.js';
import { fillDisk, fillMemory } from './disturbances/shortages.js';
import type { StoreKind } from './stores/client.js';
import type { Disturbance } from './storm.js';

/** Disturbances that come together, under the name that `--storm` takes. */
export const STORMS: { readonly [name: string]: readonly Disturbance[] } = {
  kills: [killWorkers, killPushers],
  stops: [stopWorkers],
  'stops-and-kills': [stopWorkers, killWorkers],
  crowds: [joinAndLeave],
  server: [killServer],
  'server-and-workers': [killServer, killWorkers],
  cuts: [cutConnections],
  'cuts-and-kills': [cutConnections, killPushers],
  freezes: [freezeConnections],
  'read-only': [readOnlyServer],
  'clock-ahead': [clockAhead],
  'clock-behind': [clockBehind],
  disk: [fillDisk],
  memory: [fillMemory],
};

/** The storms that a store can have. */
export function stormsOf(kind: StoreKind): string[] {
  return Object.keys(STORMS).filter((name) => STORMS[name]?.every(({ appliesTo }) => appliesTo.includes(kind)));
}
