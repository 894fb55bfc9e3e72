import type { StoreKind, Subject } from './subject.js';
import { type LimitOptions, limitSubject } from './subjects/limits.js';
import { qSubject } from './subjects/q.js';

const LIMITS: Readonly<Record<StoreKind, Readonly<Record<string, LimitOptions>>>> = {
  postgres: { limit: { batch: 500, named: true }, 'limit-unnamed': { batch: 500, named: false } },
  redis: { limit: { batch: 1000, named: false }, 'limit-100': { batch: 100, named: false } },
  sqlite: { limit: { batch: 100, named: false } },
  mariadb: { limit: { batch: 100, named: false } },
};

/** Those that a run names beside what it measured, so that nobody takes their absence for a result. */
export const NOT_RUN: Readonly<Record<StoreKind, Readonly<Record<string, string>>>> = {
  postgres: { 'graphile-worker': 'no subject written yet', 'pg-boss': 'no subject written yet' },
  redis: { bullmq: 'no subject written yet', 'bee-queue': 'no subject written yet' },
  sqlite: { plainjob: 'no subject written yet' },
  mariadb: { sidequest: 'no subject written yet' },
};

export function subjectNames(store: StoreKind): string[] {
  return ['q', ...Object.keys(LIMITS[store])];
}

export function openSubject(name: string, store: StoreKind, url: string): Subject {
  if (name === 'q') return qSubject(store, url);
  const options = LIMITS[store][name];
  if (options === undefined) throw new Error(`no subject ${name} on ${store}`);
  return limitSubject(store, url, options);
}
