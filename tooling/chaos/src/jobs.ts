import { between, pick, type Random } from './random.js';

/** What the handler of a storm's job does. */
type Deed = 'return' | 'throw' | 'throw once' | 'release' | 'complete';

/** The payload of a storm's job. */
export interface ChaosPayload {
  readonly push: string;
  readonly deed: Deed;
  /** How long the handler takes. */
  readonly ms: number;
}

/** The name that all jobs of a storm have, and their queue. */
export const JOB = 'chaos';
export const QUEUE = 'default';

const DEEDS: readonly Deed[] = ['return', 'return', 'return', 'throw once', 'throw', 'release'];

/** A payload at random; mostly a short and successful one. */
export function somePayload(random: Random, push: string, hasTransactions: boolean): ChaosPayload {
  const deed = pick<Deed>(random, hasTransactions ? [...DEEDS, 'complete', 'complete'] : DEEDS);
  return { push, deed, ms: random() < 0.1 ? between(random, 500, 3_000) : between(random, 0, 60) };
}
