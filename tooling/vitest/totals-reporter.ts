import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

/** How much of an error is told again at the end of the run; all of it stands above, where it happened. */
const LONGEST_MESSAGE = 400;

/**
 * Writes what `npm test` adds up: `<folder>/<name>.json` with `{ "passed": 1, "failed": 0, "skipped": 0, "failures": [] }`, a
 * line for each failure.
 *
 * What fails outside a test (a file that cannot be imported, a hook, an unhandled rejection) is counted as a failure too: vitest's own numbers leave it out.
 * Without a folder (a package's tests run by hand) nothing is written.
 */
export class TotalsReporter implements Reporter {
  readonly #folder: string | undefined;
  readonly #name: string;

  constructor(folder: string | undefined, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[], reason: TestRunEndReason): void {
    if (this.#folder === undefined) return;
    const totals = { passed: 0, failed: 0, skipped: 0 };
    const failures = unhandledErrors.map((error) => `outside every test: ${inShort(error)}`);
    for (const module of modules) {
      const within = (where: string, errors: readonly unknown[] = []) =>
        `${[module.relativeModuleId, where].filter(Boolean).join(' > ')}: ${errors.map(inShort).join(' / ')}`;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'passed' || state === 'skipped') totals[state] += 1;
        else failures.push(within(test.fullName, state === 'pending' ? ['the run was cut short'] : errors));
      }
      for (const error of module.errors()) failures.push(within('', [error]));
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) failures.push(within(suite.fullName, [error]));
      }
    }
    // The exit code has the last word: no run that vitest calls failed may add up to a green line.
    if (reason !== 'passed' && failures.length === 0) failures.push(`vitest ended as ${reason}, though no test failed`);
    mkdirSync(this.#folder, { recursive: true });
    const report = { ...totals, failed: failures.length, failures };
    writeFileSync(join(this.#folder, `${this.#name}.json`), `${JSON.stringify(report)}\n`);
  }
}

function inShort(error: unknown): string {
  const { message = error } = typeof error === 'object' && error !== null && 'message' in error ? error : {};
  return String(message).replace(/\s+/g, ' ').slice(0, LONGEST_MESSAGE);
}
