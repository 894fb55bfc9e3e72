import type { ConformanceCase } from './case.js';
import { CASES } from './cases/index.js';
import type { Harness } from './harness.js';
import { CASE_TIMEOUT_MS } from './in-time.js';
import { runCase, whySkipped } from './run.js';

/** A test runner: `describe` and `test` as vitest, jest and `node:test` have them. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  readonly test: TestFunction;
}

export interface TestFunction {
  /** The third argument is how long the test may take: vitest and jest take it, `node:test` has no limit and ignores it. */
  (name: string, body: () => Promise<void>, timeoutMs: number): unknown;
  skip?(name: string, body: () => Promise<void>): unknown;
}

// Opening, running and closing have a deadline each; whoever hangs is told apart by our message, not by the runner's.
const RUNNER_TIMEOUT_MS = CASE_TIMEOUT_MS * 3 + 5_000;

/**
 * Registers the suite with a test runner: one test for each case, named by the sentence it checks and its id. A case that
 * does not apply is registered as skipped, with why in its name.
 *
 * ```ts
 * import { describe, test } from 'vitest'; // or 'node:test', or jest's globals
 * describeDriver({ describe, test }, 'MyDriver', harness);
 * ```
 */
export function describeDriver(runner: Runner, name: string, harness: Harness): void {
  runner.describe(`${name} conforms`, () => {
    for (const [topic, cases] of byTopic(CASES)) {
      runner.describe(topic, () => {
        for (const one of cases) register(runner.test, harness, one);
      });
    }
  });
}

function register(test: TestFunction, harness: Harness, one: ConformanceCase): void {
  const why = whySkipped(harness, one);
  if (why === null) {
    test(`${one.name} (${one.id})`, () => runCase(harness, one), RUNNER_TIMEOUT_MS);
    return;
  }
  const name = `${one.name} (${one.id}; skipped: ${why})`;
  const nothing = async (): Promise<void> => {};
  if (test.skip === undefined) test(name, nothing, RUNNER_TIMEOUT_MS);
  else test.skip(name, nothing);
}

function byTopic(cases: readonly ConformanceCase[]): Map<string, ConformanceCase[]> {
  const topics = new Map<string, ConformanceCase[]>();
  for (const one of cases) {
    const topic = one.id.slice(0, one.id.indexOf('/'));
    topics.set(topic, [...(topics.get(topic) ?? []), one]);
  }
  return topics;
}
