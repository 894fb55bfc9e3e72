import { spawnSync } from 'node:child_process';
import * as nodeTest from 'node:test';
import { fileURLToPath } from 'node:url';
import * as vitest from 'vitest';
import { describe, expect, it } from 'vitest';
import { CASES, describeDriver, type Runner } from '../src/index.js';
import { referenceHarness } from './reference-harness.js';

const WITHOUT_REPORTS = { ...referenceHarness(), abilities: ['leases'], lacks: ['exactOrder'] } as const;

const LOWEST_ID =
  'Of jobs that became due in the same second the lowest id goes first (reserve-order/lowest-id; skipped: needs ' +
  'exactOrder (within a queue and a priority, jobs are reserved by due time and then by id), which the harness lists as lacking)';

const FORGET_ALL =
  'Forgetting all empties the failed store, and leaves the jobs alone (forget-failed/all; skipped: needs reports, which ' +
  'the driver does not promise)';

describe('describeDriver', () => {
  it('takes the functions of vitest and of node:test as they are', () => {
    const runners: readonly Runner[] = [vitest, nodeTest];
    expect(runners).toHaveLength(2);
  });

  it('registers each case once, by its sentence and its id, under its topic', () => {
    const runner = new RecordingRunner();
    describeDriver(runner, 'ReferenceDriver', referenceHarness());
    expect(runner.names).toHaveLength(CASES.length);
    expect(runner.skipped).toEqual([]);
    expect(runner.names).toContain(
      'ReferenceDriver conforms > claims > A claim whose deadline is now has expired; one second earlier it has not ' +
        '(claims/deadline-equal-to-now)',
    );
  });

  it('registers what does not apply as skipped, with why in its name', () => {
    const runner = new RecordingRunner();
    describeDriver(runner, 'D', WITHOUT_REPORTS);
    expect(runner.skipped).toContain(`D conforms > reserve-order > ${LOWEST_ID}`);
    expect(runner.skipped).toContain(`D conforms > forget-failed > ${FORGET_ALL}`);
    expect(runner.names.length + runner.skipped.length).toBe(CASES.length);
  });

  it('registers what does not apply as a test that does nothing where the runner cannot skip', async () => {
    const bodies = new Map<string, () => Promise<void>>();
    const runner: Runner = {
      describe: (_, body) => body(),
      test: (name, body) => bodies.set(name, body),
    };
    describeDriver(runner, 'D', WITHOUT_REPORTS);
    await expect(bodies.get(FORGET_ALL)?.()).resolves.toBeUndefined();
  });

  it('is shown by node:test with what passed, what failed and why, and what was skipped and why', () => {
    const file = fileURLToPath(new URL('./node-test/does-nothing.mjs', import.meta.url));
    // Without vitest's own environment: node:test tells a child of another runner to report in a format of its own.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
    const child = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], { encoding: 'utf8', env });
    expect(child.status).toBe(1);
    const lines = child.stdout.split('\n').map((line) => line.trim());
    const count = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
    expect(lines).toContainEqual(expect.stringMatching(/^ok \d+ - The driver has the six methods, .*$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ok \d+ - Queues are listed by name .*not promise\) # SKIP$/));
    expect(lines).toContainEqual(expect.stringMatching(/^not ok \d+ - A deleted job frees its key at once, .*$/));
    expect(lines.join(' ')).toContain('(docs/protocol.md#unique-freed): delete and fail free the key');
    expect(count(/^(not )?ok \d+ - .*\([a-z-]+\/[a-z0-9-]+(; skipped: .*)?\)( # SKIP)?$/)).toBe(CASES.length);
    expect(count(/; skipped: .*# SKIP$/)).toBe(CASES.filter(({ needs }) => needs.length > 0).length);
  });
});

/** Collects the names that are registered with it. */
class RecordingRunner implements Runner {
  readonly names: string[] = [];
  readonly skipped: string[] = [];
  #path: string[] = [];

  readonly describe = (name: string, body: () => void): void => {
    this.#path.push(name);
    body();
    this.#path.pop();
  };

  readonly test = Object.assign((name: string): void => void this.names.push(this.#full(name)), {
    skip: (name: string): void => void this.skipped.push(this.#full(name)),
  });

  #full(name: string): string {
    return [...this.#path, name].join(' > ');
  }
}
