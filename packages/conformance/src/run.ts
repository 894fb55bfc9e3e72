import type { ConformanceCase } from './case.js';
import { CASES } from './cases/index.js';
import { Clock } from './clock.js';
import { ConformanceFailure } from './failure.js';
import { type Harness, type Need, type TestStore, TRAITS } from './harness.js';
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
  let store: TestStore | null = null;
  let failure: ConformanceFailure | null = null;
  try {
    await inTime(
      (async () => {
        store = await harness.open({ now: clock.now });
        await one.run({ harness, clock, store });
      })(),
    );
  } catch (error) {
    failure = new ConformanceFailure(one, error);
  }
  try {
    await inTime(close(store));
  } catch (error) {
    // What the case found comes first: a store in the middle of a failed case may well refuse to close.
    failure ??= new ConformanceFailure(one, error);
  }
  if (failure !== null) throw failure;
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

async function close(store: TestStore | null): Promise<void> {
  await store?.close();
}

/** Whether a harness promises an ability, or does not list a trait as lacking. */
export function isThere(harness: Harness, need: Need): boolean {
  return isTrait(need) ? harness.lacks?.includes(need) !== true : harness.abilities.includes(need);
}

function isTrait(need: Need): need is keyof typeof TRAITS {
  return Object.hasOwn(TRAITS, need);
}
