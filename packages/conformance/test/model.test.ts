import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import type { Harness } from '../src/index.js';
import { describeModel, type PropertyResult, runSchedules, runSequences } from '../src/model/index.js';
import { ReferenceDriver } from './reference-driver.js';
import { referenceHarness } from './reference-harness.js';
import type { Row } from './reference-store.js';
import { SEEDED_BUGS } from './seeded-bugs.js';

describeModel({ describe, test }, 'ReferenceDriver', referenceHarness());

/** Takes the job of a priority that was pushed last: right, for a store without an exact order. */
class LastFirst extends ReferenceDriver {
  protected override order(a: Row, b: Row): number {
    return b.priority - a.priority || b.id - a.id;
  }
}

const UNORDERED: Harness = { ...referenceHarness(LastFirst), abilities: ['batches', 'leases'], lacks: ['exactOrder'] };

// Six methods, and no way to look behind the driver.
const BARE: Harness = {
  ...referenceHarness(),
  abilities: [],
  lacks: ['insertRow', 'jobRows', 'failedRows'],
  open: async (options) => {
    const { driver, connect, close } = await referenceHarness().open(options);
    return { driver, connect, close };
  },
};

describeModel({ describe, test }, 'A driver without an exact order', UNORDERED);
describeModel({ describe, test }, 'A driver of six methods alone', BARE);

const BROKEN_RELEASE = class extends ReferenceDriver {
  protected override released(row: Row, delay: number, error: string): void {
    super.released(row, delay, error);
    row.attempts = 0;
  }
};

describe('the model alone finds, within 1,000 sequences, a driver that', () => {
  test.each(SEEDED_BUGS)('$what ($found)', { timeout: 60_000 }, async ({ found, Driver }) => {
    const run = found === 'in sequences' ? runSequences : runSchedules;
    const result = await run(referenceHarness(Driver), { runs: 1_000 });
    expect(result.outcome).toBe('failed');
    expect(result.runs).toBeLessThanOrEqual(1_000);
  });
});

describe('a failure of the model', () => {
  it('tells the shortest story it has found, what the two say, and how to see it again', async () => {
    const { message } = failureOf(await runSequences(referenceHarness(BROKEN_RELEASE), { seed: 1 }));
    const [what, ...lines] = message.split('\n');
    expect(what).toMatch(
      /^attempts in the stored row of the job with the payload \{"n":\d+\}: the model says 1, the driver 0, after these calls of two clients, A and B:$/,
    );
    expect(lines.at(-2)).toMatch(/^ {3}3\. [AB]\.release\(job 1 of attempt 1, -?\d+, '.*'\) = true$/);
    expect(lines.at(-1)).toMatch(/^To see it again: \{ sequences: \{ seed: 1, path: '[\d:]+' \} \}$/);
    expect(lines.length).toBe(4);
  });

  it('is seen again by its seed and path, at the first try', async () => {
    const harness = referenceHarness(BROKEN_RELEASE);
    const first = failureOf(await runSequences(harness));
    const again = await runSequences(harness, { seed: first.seed, path: first.path });
    expect(failureOf(again).message.split('\nTo see')[0]).toBe(first.message.split('\nTo see')[0]);
    expect(again.runs).toBe(1);
  });

  it('is thrown by the test that was registered', async () => {
    const bodies: (() => Promise<void>)[] = [];
    const runner = {
      describe: (_: string, body: () => void) => body(),
      test: (_: string, body: () => Promise<void>) => bodies.push(body),
    };
    describeModel(runner, 'D', referenceHarness(BROKEN_RELEASE), { sequences: { seed: 1 } });
    await expect(bodies[0]?.()).rejects.toThrow('the model says 1, the driver 0');
  });

  it('is what a driver rejects with, where it should have answered', async () => {
    const Rejecting = class extends ReferenceDriver {
      protected override async count(): Promise<number> {
        throw new Error('connection lost');
      }
    };
    const { message } = failureOf(await runSequences(referenceHarness(Rejecting)));
    expect(message).toMatch(
      /^connection lost, after these calls of two clients, A and B:\n {3}1\. [AB]\.pending\((null|'[abc]')\) rejected\n/,
    );
  });
});

test('the suite itself needs no fast-check: only the entry for models does', () => {
  const source = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const files = reachedFrom(source);
  expect(files.size).toBeGreaterThan(40);
  expect([...files].filter((file) => readFileSync(file, 'utf8').includes("'fast-check'"))).toEqual([]);
});

function failureOf(result: PropertyResult) {
  if (result.outcome === 'passed') throw new Error('it passed');
  return result.error;
}

/** A source file and all that it imports by relative paths. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+)\.js'/g)) {
    reachedFrom(join(dirname(file), `${path}.ts`), seen);
  }
  return seen;
}
