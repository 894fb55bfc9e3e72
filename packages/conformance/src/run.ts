import type { ConformanceCase } from './case.js';
import { CASES } from './cases/index.js';
import { Clock } from './clock.js';
import { ConformanceFailure, type Stage } from './failure.js';
import { type Harness, type Need, TRAITS } from './harness.js';
import { inTime } from './in-time.js';

export type CaseResult = { readonly case: ConformanceCase; readonly elapsedMs: number } & (
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly error: ConformanceFailure }
  | { readonly outcome: 'skipped'; readonly why: string }
);

export interface RunOptions {
  /** Called with each result as it is known. */
  readonly onCase?: ((result: CaseResult) => void) | undefined;
  /** Default: all of them. */
  readonly cases?: readonly ConformanceCase[] | undefined;
}

/** Runs the suite without a test runner, one case after the other, and resolves to what came of each. Never rejects for a driver's fault. */
export async function runConformance(harness: Harness, options: RunOptions = {}): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const one of options.cases ?? CASES) {
    const result = await resultOf(harness, one);
    results.push(result);
    options.onCase?.(result);
  }
  return results;
}

/** Why a case cannot be run with this harness, for people; null where it can. */
export function whySkipped(harness: Harness, one: ConformanceCase): string | null {
  const missing = one.needs.find((need) => !isThere(harness, need));
  if (missing === undefined) return null;
  return isTrait(missing)
    ? `needs ${missing} (${TRAITS[missing]}), which the harness lists as lacking`
    : `needs ${missing}, which the driver does not promise`;
}

/** Runs one case on a store of its own. Rejects with a `ConformanceFailure` where its sentence is not true. */
export async function runCase(harness: Harness, one: ConformanceCase): Promise<void> {
  const clock = new Clock();
  const store = await staged(one, 'open', async () => harness.open({ now: clock.now }));
  // What the case found comes first: a store in the middle of a failed case may well refuse to close.
  const [ran, closed] = [
    await settled(() => staged(one, 'run', async () => one.run({ harness, clock, store }))),
    await settled(() => staged(one, 'close', async () => store.close())),
  ];
  for (const result of [ran, closed]) if (result.status === 'rejected') throw result.reason;
}

async function staged<T>(one: ConformanceCase, stage: Stage, work: () => Promise<T>): Promise<T> {
  try {
    return await inTime(work());
  } catch (error) {
    throw new ConformanceFailure(one, error, stage);
  }
}

async function settled(work: () => Promise<void>): Promise<PromiseSettledResult<void>> {
  const [result] = await Promise.allSettled([work()]);
  return result;
}

async function resultOf(harness: Harness, one: ConformanceCase): Promise<CaseResult> {
  const why = whySkipped(harness, one);
  if (why !== null) return { case: one, elapsedMs: 0, outcome: 'skipped', why };
  const start = performance.now();
  try {
    await runCase(harness, one);
    return { case: one, elapsedMs: performance.now() - start, outcome: 'passed' };
  } catch (error) {
    const failure = error instanceof ConformanceFailure ? error : new ConformanceFailure(one, error);
    return { case: one, elapsedMs: performance.now() - start, outcome: 'failed', error: failure };
  }
}

/** Whether a harness promises an ability, or does not list a trait as lacking. */
export function isThere(harness: Harness, need: Need): boolean {
  return isTrait(need) ? harness.lacks?.includes(need) !== true : harness.abilities.includes(need);
}

function isTrait(need: Need): need is keyof typeof TRAITS {
  return Object.hasOwn(TRAITS, need);
}
