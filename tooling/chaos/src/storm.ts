import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { check, type Rule, type Violation } from './checker.js';
import { type LedgerRecord, ROLLED_BACK, readLedger } from './ledger.js';
import { ProcessGroup } from './process-group.js';
import type { PusherOptions } from './pusher-process.js';
import { between, type Random, randomFrom } from './random.js';
import type { Sabotage } from './sabotage.js';
import type { StoreKind } from './stores/client.js';
import type { ChaosStore, Space } from './stores/store.js';
import type { ChaosWorkerOptions } from './worker-process.js';

/** A kind of trouble. */
export interface Disturbance {
  readonly name: string;
  readonly appliesTo: readonly StoreKind[];
  /** It fills the disk of the store, which has to be a small one. */
  readonly needsSmallDisk?: boolean;
  /** The longest pause before it comes again, in milliseconds. */
  readonly pauseMs: number;
  /** Promises that q does not make under it. */
  readonly waives?: readonly Rule[];
  /** By how many seconds the clock of the first worker and the first pusher is off. */
  readonly clockShiftSeconds?: number;
  /** Makes the trouble once, and undoes it: when it resolves the store can be reached again. */
  disturb(storm: StormInHand): Promise<void>;
}

export interface StormInHand {
  readonly store: ChaosStore;
  readonly space: Space;
  readonly workers: ProcessGroup;
  readonly pushers: ProcessGroup;
  readonly random: Random;
  /** Seconds that a claim lasts. */
  readonly lease: number;
}

export interface StormPlan {
  readonly seed: number;
  readonly disturbances: readonly Disturbance[];
  /** It goes on until so many pushes were acknowledged. */
  readonly pushes: number;
  /** And until every disturbance has come so often. */
  readonly troubles: number;
  readonly pushers?: number;
  readonly workers?: number;
  readonly sabotage?: Sabotage;
  /** How long a drain may take, in milliseconds; what is there after it is stuck. Default 90,000. */
  readonly drainMs?: number;
}

export interface StormResult {
  readonly violations: readonly Violation[];
  /** What processes printed that ended by an error nobody caught. */
  readonly crashes: readonly string[];
  readonly pushed: number;
  /** Pushes that the trouble made fail. */
  readonly refused: number;
  readonly started: number;
  /** How often there was trouble. */
  readonly troubles: number;
}

/** Seconds. */
export const LEASE = 2;
const RAGE_MS = 90_000;
const DRAIN_MS = 90_000;
export const PATIENCE_MS = 20_000;

/** Runs one storm: pushers and workers in processes of their own, trouble, a drain, and the checker's verdict. */
export async function runStorm(store: ChaosStore, plan: StormPlan): Promise<StormResult> {
  await using space = await store.open();
  const folder = mkdtempSync(join(tmpdir(), 'q-ledger-'));
  const random = randomFrom(plan.seed);
  const shift = Math.max(0, ...plan.disturbances.map(({ clockShiftSeconds = 0 }) => Math.abs(clockShiftSeconds)));
  const { pushers, workers } = groupsOf(space, plan, folder);
  const drainers = new ProcessGroup('worker-process', (n) => ({
    ...workerOptions(space, folder, plan),
    name: `drainer${n}`,
    clockShiftSeconds: shift === 0 ? 0 : shift + 60,
  }));
  try {
    workers.resize(plan.workers ?? 3);
    pushers.resize(plan.pushers ?? 2);
    const storm: StormInHand = { store, space, workers, pushers, random, lease: LEASE };
    const troubles = await rage(plan, storm);
    await pushers.leave(PATIENCE_MS);
    // Those whose clocks were right go on; where one was not, what it put off is due by a later clock.
    if (shift > 0) {
      await workers.leave(PATIENCE_MS);
      drainers.resize(2);
    }
    await drain(space, plan.drainMs ?? DRAIN_MS);
    await Promise.all([workers, drainers].map((group) => group.leave(PATIENCE_MS)));
    const records = readLedger(folder);
    const waived = plan.disturbances.flatMap(({ waives = [] }) => waives);
    const crashes = [pushers, workers, drainers].flatMap((group) => group.crashes);
    return { ...counted(records), violations: check(records, await space.finalState(), waived), crashes, troubles };
  } finally {
    await Promise.all([pushers, workers, drainers].map((group) => group.leave(0)));
    rmSync(folder, { recursive: true, force: true });
  }
}

function groupsOf(space: Space, plan: StormPlan, folder: string) {
  const shift = plan.disturbances.find((each) => each.clockShiftSeconds !== undefined)?.clockShiftSeconds ?? 0;
  const pushers = new ProcessGroup('pusher-process', (n) => {
    const options: PusherOptions = {
      place: space.place,
      ledger: folder,
      name: `pusher${n}`,
      seed: plan.seed * 1_000 + n,
      count: 1_000_000,
      pauseMs: 100,
      clockShiftSeconds: n === 0 ? shift : 0,
      sabotage: plan.sabotage ?? null,
    };
    return options;
  });
  const workers = new ProcessGroup('worker-process', (n) => ({
    ...workerOptions(space, folder, plan),
    name: `worker${n}`,
    clockShiftSeconds: n === 0 ? shift : 0,
  }));
  return { pushers, workers };
}

function workerOptions({ place }: Space, ledger: string, { sabotage }: StormPlan): ChaosWorkerOptions {
  const breaks = sabotage ?? null;
  return { place, ledger, name: '', concurrency: 4, lease: LEASE, clockShiftSeconds: 0, sabotage: breaks };
}

/** Makes all the trouble there is until enough was pushed under enough of it. Resolves to how often there was any. */
async function rage({ disturbances, pushes, troubles }: StormPlan, storm: StormInHand): Promise<number> {
  const endMs = performance.now() + RAGE_MS;
  // Not for ever: where those that push are killed as fast as they start, the rest is pushed in peace.
  const isOver = (times: number) =>
    (times >= troubles && storm.pushers.progress >= pushes) || times >= troubles * 3 || performance.now() > endMs;
  const times = await Promise.all(disturbances.map((each) => repeat(each, storm, isOver)));
  const isEnough = () => storm.pushers.progress >= pushes && storm.workers.progress > 0;
  while (!isEnough() && performance.now() < endMs) await sleep(50);
  if (isEnough()) return sum(times);
  throw new Error(
    `In ${RAGE_MS / 1000} s only ${storm.pushers.progress} of ${pushes} pushes were acknowledged, and ` +
      `${storm.workers.progress} handlers began: the storm proves nothing`,
  );
}

async function repeat(
  disturbance: Disturbance,
  storm: StormInHand,
  isOver: (times: number) => boolean,
): Promise<number> {
  await untilAtWork(storm);
  for (let times = 0; ; times += 1) {
    await sleep(between(storm.random, 200, disturbance.pauseMs));
    if (isOver(times)) return times;
    await disturbance.disturb(storm);
  }
}

/** Processes take their time to start on a busy machine. */
async function untilAtWork({ pushers, workers }: StormInHand): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while ((pushers.progress === 0 || workers.progress === 0) && performance.now() < endMs) await sleep(20);
}

/** Waits until nothing is left, or so long that what is left is stuck. */
export async function drain(space: Space, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    // A server that has just been restarted breaks connections that were idle.
    const left = await space.left().catch(() => 1);
    if (left === 0) return;
    await sleep(100);
  }
}

function counted(records: readonly LedgerRecord[]): Pick<StormResult, 'pushed' | 'refused' | 'started'> {
  const isRefused = (each: LedgerRecord) =>
    each.what === 'push_unknown' || (each.what === 'not_pushed' && each.error !== ROLLED_BACK);
  return {
    pushed: records.filter(({ what }) => what === 'pushed').length,
    refused: records.filter(isRefused).length,
    started: records.filter(({ what }) => what === 'started').length,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
