import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CASES, type ConformanceCase, RULES } from '../src/index.js';
import { MUTANTS } from './mutants/index.js';

const HEAD = `# The mutants of this suite

Every case is held to account by drivers that are broken in one way each ([test/mutants](test/mutants/index.ts)): the case that
is named beside one has to fail on it. For every case there is a mutant that no other case finds, so none of them can be left
out; [kill-matrix.slow.ts](test/kill-matrix.slow.ts) shows which finds what.

This table is written by [mutants-table.test.ts](test/mutants-table.test.ts): \`npx vitest run -u\` writes it anew.
`;

test('MUTANTS.md has every mutant, with its rule and its case', async () => {
  const rules = Object.keys(RULES);
  const rows = MUTANTS.map(({ what, caughtBy }) => ({ what, one: caseOf(caughtBy) })).sort(
    (a, b) => rules.indexOf(a.one.rule) - rules.indexOf(b.one.rule) || CASES.indexOf(a.one) - CASES.indexOf(b.one),
  );
  const cells = rows.map(({ what, one }) => [link(one.rule), what, `\`${one.id}\``]);
  const text = [HEAD, ...table(['rule', 'a driver that …', 'case'], cells), ''].join('\n');
  await expect(text).toMatchFileSnapshot('../MUTANTS.md');
});

test('every common mistake of the guide to drivers is a mutant, beside its rule and its case', () => {
  const guide = readFileSync(new URL('../../../docs/writing-a-driver.md', import.meta.url), 'utf8');
  const mistakes = [...guide.matchAll(/^\| (.+?) +\| .+? +\| \[([a-z-]+)\]\(.+?\) +\| `([a-z-]+\/[a-z0-9-]+)` +\|$/gm)];
  expect(mistakes.length).toBeGreaterThan(25);
  const mutants = MUTANTS.map(({ what, caughtBy }) => [what, caseOf(caughtBy).rule, caughtBy].join(' | '));
  expect(mistakes.map(([, ...columns]) => columns.join(' | ')).filter((mistake) => !mutants.includes(mistake))).toEqual(
    [],
  );
});

/** The lines of a table in Markdown, its columns as wide as the formatter makes them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const dashes = widths.map((width) => '-'.repeat(width));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [head, dashes, ...rows].map(line);
}

function link(rule: string): string {
  return `[${rule}](../../docs/protocol.md#${rule})`;
}

function caseOf(id: string): ConformanceCase {
  const one = CASES.find((candidate) => candidate.id === id);
  if (one === undefined) throw new Error(`there is no case ${id}`);
  return one;
}
