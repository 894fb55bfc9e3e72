import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { redisCall } from '@q/servers';
import pg from 'pg';
import { check } from './checker.js';
import { type Flatness, flatnessOf, type Sample } from './flatness.js';
import { readLedger } from './ledger.js';
import { ProcessGroup } from './process-group.js';
import type { PusherOptions } from './pusher-process.js';
import { type Random, randomFrom } from './random.js';
import { startStore } from './stores/start-store.js';
import type { ChaosStore } from './stores/store.js';
import { drain, LEASE, PATIENCE_MS } from './storm.js';
import { lastVitals } from './vitals.js';
import type { ChaosWorkerOptions } from './worker-process.js';

/** Stores that a soak knows how to count the connections of. */
export const SOAKED = ['postgres', 'redis'] as const;

export interface SoakPlan {
  readonly seed: number;
  readonly seconds: number;
}

interface SoakResult extends Flatness {
  readonly kills: number;
  readonly pushed: number;
}

const KILL_EVERY_SECONDS = 5;
const PUSHERS = { steady: 1, mortal: 1 };
const WORKERS = { steady: 1, mortal: 2 };

/**
 * A moderate load for a long time, with a kill every five seconds. One worker is never killed: its memory and listeners are
 * looked at. `faults` are what drifted, the promises that the checker found broken, and the processes that crashed.
 */
async function runSoak(store: ChaosStore, { seed, seconds }: SoakPlan): Promise<SoakResult> {
  await using space = await store.open();
  const folder = mkdtempSync(join(tmpdir(), 'q-ledger-'));
  const notes = mkdtempSync(join(tmpdir(), 'q-vitals-'));
  const vitals = join(notes, 'vitals');
  const base = { place: space.place, ledger: folder, clockShiftSeconds: 0, sabotage: null };
  const pushersNamed = (name: string) =>
    new ProcessGroup('pusher-process', (n): PusherOptions => {
      return { ...base, name: `${name}${n}`, seed: seed * 1_000 + n, count: 1_000_000_000, pauseMs: 100 };
    });
  const workersNamed = (name: string, more: Partial<ChaosWorkerOptions> = {}) =>
    new ProcessGroup('worker-process', (n): ChaosWorkerOptions => {
      return { ...base, name: `${name}${n}`, concurrency: 4, lease: LEASE, ...more };
    });
  const pushers = [pushersNamed('steady-pusher'), pushersNamed('pusher')] as const;
  const workers = [workersNamed('steady-worker', { vitals }), workersNamed('worker')] as const;
  const groups = [...pushers, ...workers];
  try {
    pushers[0].resize(PUSHERS.steady);
    pushers[1].resize(PUSHERS.mortal);
    workers[0].resize(WORKERS.steady);
    workers[1].resize(WORKERS.mortal);
    const endMs = performance.now() + seconds * 1000;
    const [samples, kills] = await Promise.all([
      sampled(store, workers, vitals, endMs),
      killed([pushers[1], workers[1]], randomFrom(seed), endMs),
    ]);
    await Promise.all(pushers.map((group) => group.leave(PATIENCE_MS)));
    await drain(space, PATIENCE_MS * 3);
    await Promise.all(workers.map((group) => group.leave(PATIENCE_MS)));
    const records = readLedger(folder);
    const { medians, faults } = flatnessOf(samples);
    const broken = check(records, await space.finalState()).map(({ rule, push, why }) => `${rule}: ${push}: ${why}`);
    const crashes = groups.flatMap((group) => group.crashes.map((crash) => `a process crashed: ${crash}`));
    const pushed = records.filter(({ what }) => what === 'pushed').length;
    const idle = kills === 0 || pushed === 0 ? [`${kills} kills and ${pushed} pushes: the soak proves nothing`] : [];
    return { medians, faults: [...faults, ...broken, ...crashes, ...idle], kills, pushed };
  } finally {
    await Promise.all(groups.map((group) => group.leave(0)));
    for (const each of [folder, notes]) rmSync(each, { recursive: true, force: true });
  }
}

/** All stores at once. `tell` is given a line for each, and one for each fault. Resolves to how many passed and failed. */
export async function soakAll(
  kinds: readonly (typeof SOAKED)[number][],
  plan: SoakPlan,
  tell: (line: string) => void,
): Promise<{ readonly passed: number; readonly failed: number }> {
  const soaks = kinds.map(async (kind) => {
    await using store = await startStore(kind);
    const result = await runSoak(store, plan);
    const isGood = result.faults.length === 0;
    tell(`${isGood ? 'passed' : 'FAILED'} ${kind} soak of ${plan.seconds} s, seed ${plan.seed}: ${figuresOf(result)}`);
    for (const fault of result.faults) tell(`  ${fault}`);
    return isGood;
  });
  const good = await Promise.all(soaks);
  return { passed: good.filter(Boolean).length, failed: good.filter((each) => !each).length };
}

/** Looks once a second, from when the steady worker has noted something. */
async function sampled(store: ChaosStore, workers: readonly ProcessGroup[], vitals: string, endMs: number) {
  const samples: Sample[] = [];
  const startsNow = () => workers.reduce((sum, { progress }) => sum + progress, 0);
  let before = startsNow();
  while (performance.now() < endMs) {
    await sleep(1_000);
    const now = startsNow();
    const noted = lastVitals(vitals);
    if (noted !== null) samples.push({ ...noted, started: now - before, connections: await connectionsOf(store) });
    before = now;
  }
  return samples;
}

async function killed(groups: readonly ProcessGroup[], random: Random, endMs: number): Promise<number> {
  let kills = 0;
  for (let n = 0; performance.now() + KILL_EVERY_SECONDS * 1000 < endMs; n += 1) {
    await sleep(KILL_EVERY_SECONDS * 1000);
    if ((await groups[n % groups.length]?.signal(random, 'SIGKILL')) != null) kills += 1;
  }
  return kills;
}

async function connectionsOf({ kind, server }: ChaosStore): Promise<number> {
  if (server === null) throw new Error(`${kind} has no connections`);
  if (kind === 'redis') {
    const clients = String(await redisCall(server.url, 'INFO', 'clients'));
    return Number(/connected_clients:(\d+)/.exec(clients)?.[1]);
  }
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    const { rows } = await client.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}

/** The medians of an early and of a late window, in one line. */
function figuresOf({ kills, pushed, medians }: SoakResult): string {
  const changes = Object.entries(medians).map(([figure, [early, late]]) => `${figure} ${early} to ${late}`);
  return `${kills} kills, ${pushed} pushed, ${changes.join(', ')}`;
}
