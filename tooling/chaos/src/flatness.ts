import type { Vitals } from './vitals.js';

/** One second of a soak. */
export interface Sample extends Vitals {
  /** Handlers that began in it. */
  readonly started: number;
  readonly connections: number;
}

export type Figure = keyof Sample;

/** What a figure may be in the end, given what it was in the beginning. */
const BOUNDS: { readonly [F in Figure]: (early: number, late: number) => boolean } = {
  started: (early, late) => early > 0 && late >= early * 0.6,
  rssMb: (early, late) => late <= early * 1.25 + 8,
  connections: (early, late) => early > 0 && late <= early + 3,
  resources: (early, late) => early > 0 && late <= early + 6,
  listeners: (early, late) => early > 0 && late <= early,
  warnings: (early, late) => late <= early,
};

export interface Flatness {
  /** The median of each figure in an early and in a late window. */
  readonly medians: { readonly [F in Figure]: readonly [early: number, late: number] };
  readonly faults: readonly string[];
}

const FEWEST = 20;

/** Compares the second fifth of a soak with its last: the first is for warming up. */
export function flatnessOf(samples: readonly Sample[]): Flatness {
  const fifth = Math.floor(samples.length / 5);
  const early = samples.slice(fifth, 2 * fifth);
  const late = samples.slice(-fifth);
  const pair = (figure: Figure) => [medianOf(early, figure), medianOf(late, figure)] as const;
  // The cast: a pair for each figure.
  const medians = Object.fromEntries(figures().map((figure) => [figure, pair(figure)])) as {
    [F in Figure]: readonly [number, number];
  };
  const rising = figures().filter((figure) => !BOUNDS[figure](...medians[figure]));
  const faults = rising.map((figure) => `${figure} went from ${medians[figure].join(' to ')}`);
  if (samples.length < FEWEST) faults.push(`${samples.length} samples say nothing`);
  return { medians, faults };
}

function medianOf(samples: readonly Sample[], figure: Figure): number {
  const sorted = samples.map((each) => each[figure]).toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}

function figures(): Figure[] {
  // The cast: the keys of an object literal.
  return Object.keys(BOUNDS) as Figure[];
}
