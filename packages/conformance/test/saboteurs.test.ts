import { equal, ok } from 'node:assert/strict';
import { describe, test } from 'vitest';
import { CASES, type ConformanceCase, ConformanceFailure, RULES, runCase } from '../src/index.js';
import { MUTANTS } from './mutants/index.js';

// At the same time: those that break wakeups wait five seconds each for what does not come.
describe.concurrent('a driver that …', () => {
  for (const { what, caughtBy, harness } of MUTANTS) {
    test(`${what} (caught by ${caughtBy})`, async () => {
      const one = caseOf(caughtBy);
      const failure = await failureOf(() => runCase(harness, one));
      equal(failure.caseId, caughtBy);
      ok(failure.message.includes(one.name), 'the message says what should be true');
      ok(failure.message.includes(RULES[one.rule]), 'the message says which rule it is about');
    });
  }
});

test('every case catches a mutant', () => {
  const biting = new Set(MUTANTS.map(({ caughtBy }) => caughtBy));
  equal(
    CASES.map(({ id }) => id)
      .filter((id) => !biting.has(id))
      .join('\n'),
    '',
  );
});

function caseOf(id: string): ConformanceCase {
  const one = CASES.find((candidate) => candidate.id === id);
  ok(one !== undefined, `there is no case ${id}`);
  return one;
}

async function failureOf(run: () => Promise<void>): Promise<ConformanceFailure> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ConformanceFailure) return error;
    throw error;
  }
  throw new Error('it survived');
}
