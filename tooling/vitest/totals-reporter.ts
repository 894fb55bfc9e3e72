import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

/**
 * Writes what `npm test` adds up: `<folder>/<name>.json` with `{ "passed": 1, "failed": 0, "skipped": 0 }`.
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
    const totals = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        // A test still pending when the run ends never ran: the run was cut short.
        totals[state === 'pending' ? 'failed' : state] += 1;
      }
      totals.failed += module.errors().length;
      for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
    }
    // The exit code has the last word: no run that vitest calls failed may add up to a green line.
    if (reason !== 'passed' && totals.failed === 0) totals.failed = 1;
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, `${this.#name}.json`), `${JSON.stringify(totals)}\n`);
  }
}
