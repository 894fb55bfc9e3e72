import type { Scenario } from './scenarios.js';
import type { StoreKind, Subject } from './subject.js';
import { type LimitOptions, limitSubject } from './subjects/limits.js';

const LIMITS: Readonly<Record<StoreKind, Readonly<Record<string, LimitOptions>>>> = {
  postgres: { limit: { batch: 500, named: true }, 'limit-unnamed': { batch: 500, named: false } },
  redis: { limit: { batch: 1000, named: false }, 'limit-100': { batch: 100, named: false } },
  sqlite: { limit: { batch: 100, named: false } },
  mariadb: { limit: { batch: 100, named: false } },
};

type OpenPeer = (url: string, folder: string) => Promise<Subject>;

const PEERS: Readonly<Record<StoreKind, Readonly<Record<string, OpenPeer>>>> = {
  postgres: {
    'graphile-worker': async (...place) =>
      (await import('./subjects/graphile-worker.js')).graphileWorkerSubject(...place),
    'pg-boss': async (...place) => (await import('./subjects/pg-boss.js')).pgBossSubject(...place, { notify: false }),
    'pg-boss-notify': async (...place) =>
      (await import('./subjects/pg-boss.js')).pgBossSubject(...place, { notify: true }),
  },
  redis: {
    bullmq: async (...place) => (await import('./subjects/bullmq.js')).bullMqSubject(...place),
    'bee-queue': async (...place) => (await import('./subjects/bee-queue.js')).beeQueueSubject(...place),
  },
  sqlite: { plainjob: async (...place) => (await import('./subjects/plainjob.js')).plainjobSubject(...place) },
  mariadb: {},
};

/** Those that a run names beside what it measured, so that nobody takes their absence for a result. */
export const NOT_RUN: Readonly<Record<StoreKind, Readonly<Record<string, string>>>> = {
  postgres: {},
  redis: {},
  sqlite: {},
  mariadb: { sidequest: 'no subject written yet' },
};

/** `quick`: q and one limit, which is what two minutes are enough for on four stores. */
export function subjectNames(store: StoreKind, { quick }: { quick: boolean }): string[] {
  return quick ? ['q', 'limit'] : allSubjectNames(store);
}

export function allSubjectNames(store: StoreKind): string[] {
  return ['q', ...Object.keys(LIMITS[store]), ...Object.keys(PEERS[store])];
}

export function isPeer(name: string, store: StoreKind): boolean {
  return name in PEERS[store];
}

/** A limit has no idle worker: it would spin. pg-boss without NOTIFY looks twice a second at most. */
export function takesPart(name: string, scenario: Scenario): boolean {
  if (name === 'pg-boss-notify') return ['push', 'push20', 'pickup'].includes(scenario);
  return scenario !== 'pickup' || !(name === 'pg-boss' || name.startsWith('limit'));
}

/** `peers`: the folder that the store's peers are installed in. */
export async function openSubject(name: string, store: StoreKind, url: string, peers: string | null): Promise<Subject> {
  if (name === 'q') return (await import('./subjects/q.js')).qSubject(store, url);
  const open = PEERS[store][name];
  if (open !== undefined && peers !== null) return open(url, peers);
  const options = LIMITS[store][name];
  if (options === undefined) throw new Error(`no subject ${name} on ${store}`);
  return limitSubject(store, url, options);
}
