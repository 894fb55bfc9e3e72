import { cutEverywhere, operationsOf } from './cuts/run-cuts.js';
import type { StoreKind } from './stores/client.js';
import { startStore } from './stores/start-store.js';
import type { ChaosStore } from './stores/store.js';
import { runStorm } from './storm.js';
import { STORMS, stormsOf } from './storms.js';

export interface Selection {
  readonly stores: readonly StoreKind[];
  /** Names of storms, `cut-points` among them. Null: all that apply. */
  readonly storms: readonly string[] | null;
  /** Of the first storm; each further one has a seed of its own that follows from it. */
  readonly seed: number;
  /** How often each storm comes, each time from another seed. Null: until each store has had thirty or more. */
  readonly rounds: number | null;
  readonly pushes: number;
  readonly troubles: number;
}

const STORMS_PER_STORE = 30;

/** One storm of each family, for a quick look. */
export const QUICK = [
  'kills',
  'stops',
  'server-and-workers',
  'cuts',
  'freezes',
  'read-only',
  'disk',
  'memory',
] as const;

/** The connection cut at every message of every operation. */
export const CUT_POINTS = 'cut-points';

/** Runs storms one by one. `tell` is given a line for each. Resolves to how many passed and failed. */
export async function runStorms(selection: Selection, tell: (line: string) => void) {
  const total = { passed: 0, failed: 0 };
  const count = (isGood: boolean) => {
    total[isGood ? 'passed' : 'failed'] += 1;
  };
  for (const kind of selection.stores) {
    const wanted = (name: string) => selection.storms === null || selection.storms.includes(name);
    const names = stormsOf(kind).filter(wanted);
    const onDisk = names.filter((name) => STORMS[name]?.some(({ needsSmallDisk }) => needsSmallDisk));
    const others = names.filter((name) => !onDisk.includes(name));
    const rounds = selection.rounds ?? Math.ceil(STORMS_PER_STORE / names.length);
    const hasCuts = kind !== 'sqlite' && wanted(CUT_POINTS);
    for (const [smallDisk, some] of [
      [false, others],
      [true, onDisk],
    ] as const) {
      if (some.length === 0 && (smallDisk || !hasCuts)) continue;
      await using store = await startStore(kind, { smallDisk });
      for (let round = 0; round < rounds; round += 1) {
        for (const name of some) count(await runOne(store, name, selection, selection.seed + round, tell));
      }
      if (!smallDisk && hasCuts) count(await runCuts(store, tell));
    }
  }
  return total;
}

async function runOne(
  store: ChaosStore,
  name: string,
  { pushes, troubles }: Selection,
  seed: number,
  tell: (line: string) => void,
): Promise<boolean> {
  const startedMs = performance.now();
  const head = `${store.kind} ${name}, seed ${seed}`;
  try {
    const plan = { seed, pushes, troubles, disturbances: STORMS[name] ?? [] };
    const { violations, crashes, pushed, refused, started, troubles: times } = await runStorm(store, plan);
    const isGood = violations.length === 0 && crashes.length === 0;
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const figures = `${times} troubles, ${pushed} pushed, ${refused} refused or unknown, ${started} starts, ${seconds} s`;
    tell(`${isGood ? 'passed' : 'FAILED'} ${head}: ${figures}`);
    for (const { rule, push, why } of violations) tell(`  ${rule}: ${push}: ${why}`);
    for (const crash of crashes) tell(`  a process crashed: ${crash}`);
    if (!isGood) tell(`  again: pnpm chaos --store=${store.kind} --storm=${name} --seed=${seed}`);
    return isGood;
  } catch (error) {
    tell(`FAILED ${head}: ${error instanceof Error ? error.stack : error}`);
    return false;
  }
}

async function runCuts(store: ChaosStore, tell: (line: string) => void): Promise<boolean> {
  const results = [];
  for (const operation of operationsOf(store.kind)) results.push(await cutEverywhere(store, operation));
  const faults = results.flatMap((each) => each.faults);
  const figures = results.map(({ operation, cuts, rejected }) => `${operation} ${cuts} cuts, ${rejected} rejected`);
  tell(`${faults.length === 0 ? 'passed' : 'FAILED'} ${store.kind} ${CUT_POINTS}: ${figures.join('; ')}`);
  for (const fault of faults) tell(`  ${fault}`);
  return faults.length === 0;
}
