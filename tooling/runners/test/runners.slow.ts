import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CASES } from '@q/conformance';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Runner {
  readonly name: string;
  /** Its project: a folder of this package. */
  readonly folder: string;
  /** What its user types, the file of the tests last. */
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** How many tests passed, by its last words. */
  readonly passed: RegExp;
  readonly failed: RegExp;
  readonly skipped: RegExp;
}

const RUNNERS: readonly Runner[] = [
  {
    name: 'node:test',
    folder: 'node-test',
    command: [process.execPath, '--test', '--test-reporter=spec'],
    passed: /^ℹ pass (\d+)$/m,
    failed: /^ℹ fail (\d+)$/m,
    skipped: /^ℹ skipped (\d+)$/m,
  },
  {
    name: 'vitest',
    folder: 'vitest',
    // The default reporter names a test that passed only where it was slow.
    command: ['../node_modules/.bin/vitest', 'run', '--reporter=verbose'],
    passed: /^ +Tests .*?(\d+) passed/m,
    failed: /^ +Tests .*?(\d+) failed/m,
    skipped: /^ +Tests .*?(\d+) skipped/m,
  },
  {
    name: 'jest',
    folder: 'jest',
    command: ['../node_modules/.bin/jest', '--verbose'],
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
    passed: /^Tests: .*?(\d+) passed/m,
    failed: /^Tests: .*?(\d+) failed/m,
    skipped: /^Tests: .*?(\d+) skipped/m,
  },
];

/** The model's two, which nothing is ever missing for. */
const MODEL_TESTS = 2;
const APPLICABLE = CASES.filter(({ needs }) =>
  needs.every((need) => need === 'leases' || need === 'exactOrder'),
).length;

describe.each(RUNNERS)('the suite under $name', (runner) => {
  test('passes on a driver that conforms, and skips by name what does not apply', () => {
    const { output, status, totals } = run(runner, 'my-driver.test.mjs');
    expect({ status, ...totals }).toEqual({
      status: 0,
      passed: APPLICABLE + MODEL_TESTS,
      failed: 0,
      skipped: CASES.length - APPLICABLE,
    });
    expect(output).toMatch(/Calls one after the other are answered as the model says \(200 sequences, seed \d+\)/);
  });

  test('fails on a driver that does not, with what should be true, what was seen, and the rule', () => {
    const { output, status, totals } = run(runner, 'broken-driver.test.mjs');
    expect(status).toBe(1);
    expect(totals.skipped).toBe(CASES.length - APPLICABLE);
    expect(totals.failed).toBeGreaterThan(MODEL_TESTS);
    expect(output).toContain(
      'There is nothing to delete where the job was deleted, failed or never pushed: false, and no error',
    );
    expect(output).toContain('docs/protocol.md#fence');
    expect(output).toMatch(/To see it again: \{ sequences: \{ seed: 1, path: '[\d:]+' \} \}/);
  });
});

function run({ folder, command, env, passed, failed, skipped }: Runner, file: string) {
  const [program = '', ...args] = command;
  // Without vitest's own environment: node:test and vitest tell a child of another runner to report in a way of its own.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, VITEST: ___, ...clean } = process.env;
  const child = spawnSync(program, [...args, file], {
    cwd: `${ROOT}${folder}`,
    encoding: 'utf8',
    env: { ...clean, NO_COLOR: '1', CI: 'true', ...env },
  });
  const output = `${child.stdout}${child.stderr}`;
  const count = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
  return {
    output,
    status: child.status,
    totals: { passed: count(passed), failed: count(failed), skipped: count(skipped) },
  };
}
