import { beforeAll, describe, expect, test } from 'vitest';
import { type Compiled, compile } from '../src/compile.js';
import { documents } from '../src/documents.js';
import { type Example, examplesIn } from '../src/examples.js';
import { run } from '../src/run.js';

/** Examples that are neither compiled nor run, and why: whoever adds one adds it here too. */
const UNCHECKED: readonly string[] = Array.from(
  { length: 8 },
  () => 'docs/transactions.md: run with the library itself, in tooling/transaction-tests',
);

const { examples, unknown } = examplesIn(documents());
const unchecked = examples.filter(({ treatment }) => treatment.type === 'unchecked');
const checked = examples.filter(({ treatment }) => treatment.type !== 'unchecked');
const runnable = examples.filter(({ treatment }) => treatment.type === 'run');

let compiled: Compiled;

beforeAll(async () => {
  compiled = await compile(checked, 'examples');
}, 120_000);

describe('The code in the documentation', () => {
  test('is in blocks that say what they are', () => {
    expect(unknown).toEqual([]);
  });

  test(`is left unchecked in ${UNCHECKED.length} of ${examples.length} blocks`, () => {
    expect(unchecked.map(uncheckedLine)).toEqual(UNCHECKED);
  });

  test(`compiles (${checked.length} blocks)`, () => {
    expect(checked.length).toBeGreaterThan(0);
    expect(compiled.errors).toEqual([]);
  });

  test.each(runnable.map((example) => ({ example, where: example.where })))(
    'runs: $where',
    { timeout: 60_000 },
    async ({ example }) => {
      const { code, stdout, stderr } = await run(compiled.fileOf(example));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { treatment } = example;
      if (treatment.type === 'run' && treatment.output !== null) expect(stdout).toBe(treatment.output);
    },
  );
});

function uncheckedLine({ page, treatment }: Example): string {
  return `${page}: ${treatment.type === 'unchecked' ? treatment.reason : ''}`;
}
