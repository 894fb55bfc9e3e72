import type { Claim } from '@q/core';
import { checkClaim, checkClaims, secondsAfter, secondsAt } from '@q/core/driver-kit';
import type { Context } from './context.js';
import { type Place, placeOf, type QueueLevels } from './keys.js';
import { numbersOf } from './replies.js';

/** Moves a claimed job to the failed store. False: the claim does not hold, and nothing happened. */
export async function failClaim(context: Context, claim: Claim, error: string): Promise<boolean> {
  return finish(context, claim, 'fail', [String(secondsAt(context.now())), error]);
}

/** Back for another attempt. False: the claim does not hold, and nothing happened. */
export async function releaseClaim(context: Context, claim: Claim, delay: number, error: string): Promise<boolean> {
  return finish(context, claim, 'release', [String(secondsAfter(context.now(), delay)), error]);
}

async function finish(
  { connection }: Context,
  claim: Claim,
  how: 'fail' | 'release',
  words: readonly string[],
): Promise<boolean> {
  const { id, attempts, handle } = checkClaim(claim);
  const place = placeOf(handle);
  if (place === null) return false;
  return (
    Number(await connection.run(how, [levelOf(place)], [String(id), String(attempts), place.entry, ...words])) === 1
  );
}

/** What one call claims or acts on at most: a script is in everybody's way for as long as it runs. */
export const CLAIMS_AT_ONCE = 1_000;

/** Acts on all claims, and resolves to those that were refused: they are lost. */
export async function actOnClaims<C extends Claim>(
  { connection }: Context,
  claims: readonly C[],
  how: 'delete' | 'extend',
  words: () => readonly string[],
): Promise<C[]> {
  const held = new Set<number>();
  const act = async ({ place, placed }: Batch) => {
    const fences = placed.flatMap(({ fence }) => fence);
    const refused = new Set(numbersOf(await connection.run(how, [levelOf(place)], [...words(), ...fences])));
    for (const [n, { index }] of placed.entries()) if (!refused.has(n)) held.add(index);
  };
  await Promise.all(batchesOf(checkClaims(claims)).map(act));
  return claims.filter((_, index) => !held.has(index));
}

/** Claims of one level. */
interface Batch {
  readonly place: Place;
  readonly placed: { readonly index: number; readonly fence: readonly string[] }[];
}

/** The claims by level, but for those with a handle that no reserve gave: nobody holds them. */
function batchesOf(claims: readonly Claim[]): Batch[] {
  const batches: Batch[] = [];
  const open = new Map<string, Batch>();
  for (const [index, claim] of claims.entries()) {
    // A copy: what was checked is what is sent.
    const { id, attempts, handle } = checkClaim(claim);
    const place = placeOf(handle);
    if (place === null) continue;
    const level = `${place.priority}:${place.queue}`;
    let batch = open.get(level);
    if (batch === undefined || batch.placed.length === CLAIMS_AT_ONCE) {
      batch = { place, placed: [] };
      open.set(level, batch);
      batches.push(batch);
    }
    batch.placed.push({ index, fence: [String(id), String(attempts), place.entry] });
  }
  return batches;
}

function levelOf({ queue, priority }: Place): QueueLevels {
  return { queue, priorities: [priority] };
}
