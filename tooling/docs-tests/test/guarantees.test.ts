import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES } from '@q/conformance';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../src/documents.js';
import { tableAfter } from '../src/tables.js';

const page = readFileSync(join(ROOT, 'docs/guarantees.md'), 'utf8');
const rows = ['Pushing', 'Running', 'Failing', 'Outages'].flatMap((heading) => tableAfter(page, `## ${heading}`));
const ids = new Set(CASES.map(({ id }) => id));

interface Named {
  readonly name: string;
  /** Null: a case of the suite. */
  readonly file: string | null;
}

/** The tests that a cell names. */
function testsIn(cell: string): Named[] {
  const cases = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, file: null }));
  const tests = [...cell.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+)\)/g)].map(([, name = '', file = '']) => ({
    name,
    file,
  }));
  return [...cases, ...tests];
}

function isThere({ name, file }: Named): boolean {
  if (file === null) return ids.has(name);
  const source = readFileSync(join(ROOT, file), 'utf8');
  return source.includes(`('${name}'`);
}

describe('docs/guarantees.md', () => {
  test('has its tables', () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  test.each(rows)('%s: on %s, and its tests exist', (_promise, _stores, shownBy = '') => {
    const named = testsIn(shownBy);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((one) => !isThere(one))).toEqual([]);
  });

  test('would not pass with a test that does not exist', () => {
    const [real] = testsIn('`races/each-job-once`');
    const wrong = testsIn('`races/each-job-twice`, [runs once](../tooling/worker-tests/test/leases.test.ts)');
    expect([real, ...wrong].map((one) => one !== undefined && isThere(one))).toEqual([true, false, false]);
  });
});
