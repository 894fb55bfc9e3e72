import { deepEqual } from 'node:assert/strict';
import { beforeAll, describe, expect, test } from 'vitest';
import { CASES } from '../src/index.js';
import { KillMatrix } from './kill-matrix.js';
import { MUTANTS } from './mutants/index.js';
import type { Mutant } from './mutants/mutant.js';

interface Verdict {
  readonly mutant: Mutant;
  readonly killers: readonly string[];
}

/** At a time: those that break wakeups wait five seconds each for what does not come. */
const AT_A_TIME = 4;

let verdicts: readonly Verdict[] = [];

beforeAll(async () => {
  verdicts = await judged();
  const report = CASES.map(({ id }) => [id, ...killsOf(id)].join('\n  ')).join('\n');
  const alone = CASES.filter(({ id }) => isNeeded(id)).length;
  console.log(
    `${report}\n${MUTANTS.length} mutants; ${alone} of ${CASES.length} cases kill one that no other case kills`,
  );
}, 900_000);

describe('the kill matrix', () => {
  test('every mutant is killed by the case that is named for it', () => {
    const missed = verdicts.filter(({ mutant, killers }) => !killers.includes(mutant.caughtBy));
    deepEqual(
      missed.map(({ mutant }) => `${mutant.caughtBy}: ${mutant.what}`),
      [],
    );
  });

  test('every case kills a mutant that no other case kills: without any one of them some mutant survives', () => {
    deepEqual(
      CASES.map(({ id }) => id).filter((id) => !isNeeded(id)),
      [],
    );
    expect(verdicts.length).toBe(MUTANTS.length);
  });
});

function isNeeded(id: string): boolean {
  return verdicts.some(({ killers }) => killers.length === 1 && killers[0] === id);
}

/** What a case kills; what it kills alone is marked. */
function killsOf(id: string): string[] {
  return verdicts
    .filter(({ killers }) => killers.includes(id))
    .map(({ mutant, killers }) => `${killers.length === 1 ? 'alone: ' : ''}${mutant.what}`);
}

async function judged(): Promise<Verdict[]> {
  const matrix = await KillMatrix.open();
  const left = [...MUTANTS];
  const found: Verdict[] = [];
  const judge = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      found.push({ mutant, killers: await matrix.killersOf(mutant) });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, judge));
  return found;
}
