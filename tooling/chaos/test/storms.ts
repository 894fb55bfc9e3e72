import { expect, it } from 'vitest';
import { QUICK, runStorms } from '../src/run-storms.js';
import type { StoreKind } from '../src/stores/client.js';

const SEED = 12;

/** A file for each store, so that they run side by side: most of a storm is waiting. */
export function stormsAreWeathered(kind: StoreKind): void {
  it(`Storms on ${kind} break no promise`, async () => {
    const lines: string[] = [];
    const selection = { stores: [kind], storms: QUICK, seed: SEED, rounds: 1, pushes: 20, troubles: 2 };
    const { passed, failed } = await runStorms(selection, (line) => {
      lines.push(line);
      console.log(line);
    });
    expect(failed, lines.join('\n')).toBe(0);
    expect(passed).toBeGreaterThan(2);
  });
}
