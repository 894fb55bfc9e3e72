// `npm test`: sets up, runs the tests of every package that has a script `test`, adds up. `pnpm test:slow` does the same with the slow tier.
// A second argument is the one package that is tested.
//
// Each package's run leaves `<folder>/<package>.json` with { "passed": 1, "failed": 0, "skipped": 0 }, <folder> being $Q_REPORTS and <package> its name
// without the scope; `failures`, a line for each, is told again at the end. vitest does so by tooling/vitest; a script of another kind writes the file itself, or one more, named <package>.<anything>.json.
// Results are never cached and the folder is new each time: what is added up happened in this run.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { exists, finish, root, run, seconds } from './steps.mjs';
import { packages } from './workspace.mjs';

const tier = process.argv[2] === 'slow' ? 'test:slow' : 'test';
const only = process.argv[3];
const totals = { passed: 0, failed: 0, skipped: 0 };
/** @type {string[]} */
const failures = [];
const tested = packages().filter(
  ({ manifest, folder }) =>
    (only === undefined || manifest.name === only) &&
    manifest.scripts?.[tier] &&
    (tier === 'test' || hasSlowTests(folder)),
);

if (tested.length === 0) {
  console.log('There are no slow tests: no test/**/*.slow.ts in any package.');
} else {
  const pnpm = await setup();
  const start = performance.now();
  await runTests(pnpm);
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${tier}: ${seconds(performance.now() - start)}`);
}
finish(totals);

/** @param {string} pnpm */
async function runTests(pnpm) {
  const parent = join(root, 'node_modules', '.q');
  mkdirSync(parent, { recursive: true });
  const reports = mkdtempSync(join(parent, 'reports-'));
  // One package at a time: on two cores, tests that share a machine with others measure the others. --only, since set-up has built already.
  const filters = tested.map(({ manifest }) => `--filter=${manifest.name}`);
  const command = ['turbo', 'run', tier, ...filters, '--only', '--concurrency=1', '--continue', '--log-prefix=none'];
  const { code } = await run(command, { show: true, path: [pnpm], env: { Q_REPORTS: reports } });
  console.log();
  for (const { manifest } of tested) addUp(manifest.name.replace(/^@.*\//, ''), reports);
  rmSync(reports, { recursive: true });
  if (code !== 0 && totals.failed === 0) {
    totals.failed = 1;
    console.log(`turbo ended with exit code ${code}, though no test failed: counted as one failure.`);
  }
}

/**
 * @param {string} name
 * @param {string} reports
 */
function addUp(name, reports) {
  const files = readdirSync(reports).filter((file) => file.startsWith(`${name}.`) && file.endsWith('.json'));
  if (files.length === 0) {
    totals.failed += 1;
    failures.push(`${name}: no report, so its tests did not run to the end: counted as one failure`);
  }
  for (const file of files) {
    const { passed, failed, skipped, failures: told = [] } = JSON.parse(readFileSync(join(reports, file), 'utf8'));
    console.log(`${file.slice(0, -'.json'.length)}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    totals.passed += passed;
    totals.failed += failed;
    totals.skipped += skipped;
    for (const failure of told) failures.push(`${name} ${failure}`);
  }
}

/** @param {string} folder */
function hasSlowTests(folder) {
  const tests = join(root, folder, 'test');
  return exists(tests) && readdirSync(tests, { recursive: true }).some((file) => String(file).endsWith('.slow.ts'));
}
