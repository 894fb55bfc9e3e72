import { deepEqual } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { CASES, type ConformanceCase, runCase } from '../src/index.js';
import { MUTANTS } from './mutants/index.js';
import type { Mutant } from './mutants/mutant.js';

// Too slow to be run once for each mutant; their own mutants run them in saboteurs.test.ts.
const HEAVY: readonly string[] = [
  'payloads/depth-limit',
  'push-many/any-size',
  'push-many/large-is-all-or-nothing',
  'delete-many/any-size',
  'transactions/push-many-rolls-back',
];

test('which mutants each case kills: none of them none', async () => {
  const kills = new Map<string, string[]>(CASES.map(({ id }) => [id, []]));
  for (const mutant of MUTANTS) {
    for (const id of await killersOf(mutant)) kills.get(id)?.push(mutant.what);
  }
  for (const [id, whats] of kills) console.log(`${id}\n${whats.map((what) => `  ${what}`).join('\n')}`);
  const idle = [...kills].filter(([, whats]) => whats.length === 0).map(([id]) => id);
  deepEqual(idle, []);
  expect(kills.size).toBe(CASES.length);
});

/** The cases that fail on a mutant. All at once: each has a store and a clock of its own. */
async function killersOf({ harness, caughtBy }: Mutant): Promise<string[]> {
  const cases = CASES.filter(({ id }) => id === caughtBy || !HEAVY.includes(id));
  const verdicts = await Promise.all(cases.map(async (one) => ({ id: one.id, failed: await fails(harness, one) })));
  return verdicts.filter(({ failed }) => failed).map(({ id }) => id);
}

async function fails(harness: Mutant['harness'], one: ConformanceCase): Promise<boolean> {
  try {
    await runCase(harness, one);
    return false;
  } catch {
    return true;
  }
}
