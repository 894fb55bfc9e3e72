import { describe, expect, it } from 'vitest';
import { QUICK, runStorms } from '../src/run-storms.js';
import { STORE_KINDS } from '../src/stores/start-store.js';

const SEED = 12;

describe('storms', () => {
  it.each(STORE_KINDS)('on %s break no promise', async (kind) => {
    const lines: string[] = [];
    const selection = { stores: [kind], storms: QUICK, seed: SEED, rounds: 1, pushes: 20, troubles: 2 };
    const { passed, failed } = await runStorms(selection, (line) => {
      lines.push(line);
      console.log(line);
    });
    expect(failed, lines.join('\n')).toBe(0);
    expect(passed).toBeGreaterThan(2);
  });
});
