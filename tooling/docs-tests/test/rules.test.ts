import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RULES } from '@q/conformance';
import { ABILITIES } from '@q/core';
import { expect, test } from 'vitest';
import { documents, ROOT } from '../src/documents.js';
import { tableAfter } from '../src/tables.js';

const pages = documents();

test('Every rule of the conformance suite has its anchor in docs/protocol.md', () => {
  const anchors = pages.find(({ path }) => path === 'docs/protocol.md')?.anchors;
  expect(Object.keys(RULES).filter((rule) => !anchors?.has(rule))).toEqual([]);
});

test('Every option and every event of the worker is in docs/worker.md, and nothing else is', () => {
  const page = read('docs/worker.md');
  expect(firstColumn(page, '## Options')).toEqual(members('packages/core/src/worker/options.ts', 'WorkerOptions'));
  expect(firstColumn(page, '## Events')).toEqual(members('packages/core/src/events.ts', 'WorkerEventTypes'));
});

test('Every option of a queue and of a push is in the README of core, and nothing else is', () => {
  const page = read('packages/core/README.md');
  const source = 'packages/core/src/queue.ts';
  expect(firstColumn(page, '## Options of a queue')).toEqual(members(source, 'QueueOptions<D, H>'));
  expect(firstColumn(page, '## Options of a push')).toEqual(members(source, 'PushOptions'));
});

test('The glossary has every ability with its methods', () => {
  const rows = tableAfter(read('docs/glossary.md'), '## Abilities').map(([, methods = '']) => methods);
  const methods = Object.values(ABILITIES).map((names) => names.map((name) => `\`${name}\``).join(', '));
  expect(rows).toEqual(methods);
});

test('Every decision is in the list of decisions', () => {
  const decisions = pages.map(({ path }) => path).filter((path) => /^docs\/decisions\/\d/.test(path));
  const list = pages.find(({ path }) => path === 'docs/decisions/README.md');
  expect(list?.links.map(({ target }) => `docs/decisions/${target}`)).toEqual(decisions);
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The names in the first column of the first table after a heading. */
function firstColumn(page: string, heading: string): string[] {
  return tableAfter(page, heading).map(([name = '']) => name.replaceAll('`', ''));
}

/** The names of an interface's own members, in order, as its source has them. */
function members(file: string, name: string): string[] {
  const source = read(file);
  const begin = source.indexOf(`export interface ${name} {`);
  expect(begin, `${name} in ${file}`).toBeGreaterThan(-1);
  const body = source.slice(begin, source.indexOf('\n}', begin));
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member]) => member ?? '');
}
