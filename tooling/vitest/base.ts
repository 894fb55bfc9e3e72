import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { TotalsReporter } from './totals-reporter.js';

/**
 * The settings that every package's tests run with. `vitest run` takes the `*.test.ts`, `vitest run --mode slow` the `*.slow.ts`.
 *
 * A package without a test of the tier passes with zero: the totals say so, and a shell need not carry a placeholder test.
 */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'slow' ? ['test/**/*.slow.ts'] : ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: mode === 'slow' ? 600_000 : 20_000,
    hookTimeout: mode === 'slow' ? 120_000 : 20_000,
    passWithNoTests: true,
    reporters: ['default', new TotalsReporter(process.env.Q_REPORTS, packageName())],
  },
}));

/** Vitest runs in the package's own folder. The scope says nothing here, and would be a folder in a file name. */
function packageName(): string {
  const manifest: { name: string } = JSON.parse(readFileSync('package.json', 'utf8'));
  return manifest.name.replace(/^@.*\//, '');
}
