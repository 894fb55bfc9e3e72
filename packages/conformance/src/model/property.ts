import fc from 'fast-check';
import { inTime } from '../in-time.js';
import { Disagreement } from './in-short.js';

export interface PropertyOptions {
  /** How many are tried. Default: 200. */
  readonly runs?: number | undefined;
  /** The same seed gives the same ones again. Default: another each time. */
  readonly seed?: number | undefined;
  /** From the message of a failure, together with its seed: goes straight to what failed. */
  readonly path?: string | undefined;
}

export type PropertyResult = { readonly seed: number; readonly runs: number } & (
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly error: ModelFailure }
);

/** A driver that does otherwise than the model says: the shortest story of it that was found, and how to see it again. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly seed: number;
  readonly path: string;

  constructor(found: Found) {
    // What the two say is told in full; an error of the driver's is shown as it is.
    super(messageOf(found), found.cause instanceof Disagreement ? undefined : { cause: found.cause });
    this.seed = found.seed;
    this.path = found.path;
  }
}

interface Found {
  /** What `describeModel` calls the option that shows it again. */
  readonly option: 'sequences' | 'schedules';
  readonly story: readonly string[];
  readonly cause: unknown;
  readonly seed: number;
  readonly path: string;
}

const DEFAULT_RUNS = 200;

export interface Property<T> {
  readonly option: Found['option'];
  readonly values: fc.Arbitrary<T>;
  /** Rejects where the driver does otherwise than it should. Tells its story as it goes. */
  play(value: T, story: string[]): Promise<void>;
}

/** The options with what is left out decided: a seed has to be known before it can be told. */
export function settled<O extends PropertyOptions>(options: O | undefined): O & { runs: number; seed: number } {
  // As fast-check takes seeds: 32 bits.
  const seed = Math.floor(Math.random() * 2 ** 31);
  // The cast: of an option that is left out, nothing is missing.
  return { runs: DEFAULT_RUNS, seed, ...(options ?? ({} as O)) };
}

/** A list of any length up to `maxLength`, all lengths alike: fast-check by itself prefers short ones, in which nothing meets. */
export function longList<T>(items: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> {
  return fc.noBias(fc.array(items, { minLength: 1, maxLength, size: 'max' }));
}

/** Plays random values, and makes what fails as short as it can. */
export async function checkProperty<T>(
  { option, values, play }: Property<T>,
  options: PropertyOptions,
): Promise<PropertyResult> {
  const { runs, seed, path = '' } = settled(options);
  let last: Pick<Found, 'story' | 'cause'> = { story: [], cause: null };
  const property = fc.asyncProperty(values, async (value) => {
    const story: string[] = [];
    try {
      await inTime(play(value, story));
    } catch (cause) {
      last = { story, cause };
      throw cause;
    }
  });
  const details = await fc.check(property, { numRuns: runs, seed, path });
  if (!details.failed) return { seed, runs: details.numRuns, outcome: 'passed' };
  const error = new ModelFailure({ ...last, option, seed, path: details.counterexamplePath ?? '' });
  return { seed, runs: details.numRuns, outcome: 'failed', error };
}

const CALLS: Readonly<Record<Found['option'], string>> = {
  sequences: 'these calls of two clients, A and B',
  schedules: 'these calls of two clients, A and B, of which those of one number overlapped',
};

function messageOf({ option, story, cause, seed, path }: Found): string {
  const what = cause instanceof Error ? cause.message : String(cause);
  const lines = story.map((line, index) => `${String(index + 1).padStart(4)}. ${line}`);
  return `${what}, after ${CALLS[option]}:\n${lines.join('\n')}\nTo see it again: { ${option}: { seed: ${seed}, path: '${path}' } }`;
}
