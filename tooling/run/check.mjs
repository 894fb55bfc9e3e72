// `pnpm check`: sets up, then everything that can be said about the code without running it. Goes on after a failure: one run tells all.
import { setup } from './setup.mjs';
import { finish, run, step } from './steps.mjs';

const path = [await setup()];

const checks = {
  'format and lint': ['biome', 'ci', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off', '.'],
  types: ['turbo', 'run', 'typecheck', '--continue', '--output-logs=errors-only'],
  arrows: ['node', 'tooling/checks/dist/main.js', 'arrows'],
  'committed text': ['node', 'tooling/checks/dist/main.js', 'text'],
  'unused code': ['knip', '--no-config-hints', '--no-progress'],
};

const totals = { passed: 0, failed: 0, skipped: 0 };
for (const [name, command] of Object.entries(checks)) {
  totals[(await step(name, () => run(command, { path }))) ? 'passed' : 'failed'] += 1;
}
finish(totals);
