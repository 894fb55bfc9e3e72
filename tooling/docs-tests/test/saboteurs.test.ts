import { expect, test } from 'vitest';
import { compile } from '../src/compile.js';
import { type Document, ROOT } from '../src/documents.js';
import { examplesIn } from '../src/examples.js';
import { brokenLinks, orphans } from '../src/links.js';
import { readMarkdown } from '../src/markdown.js';
import { run } from '../src/run.js';

test('Code that does not compile is found, at its line in the page', async () => {
  const page = aPage(
    'docs/wrong.md',
    '# Wrong',
    '',
    '```ts',
    "import { Worker } from '@q/core';",
    'new Worker(7);',
    '```',
  );
  const { errors } = await compile(examplesIn([page]).examples, 'wrong');
  expect(errors).toEqual([expect.stringMatching(/^docs\/wrong\.md:5: error TS2345: /)]);
});

test('Code behind a prelude that does not compile is found, at its line in the page', async () => {
  const page = aPage('docs/wrong.md', '<!-- prelude: app -->', '```ts', 'driver.fetch();', '```');
  const { errors } = await compile(examplesIn([page]).examples, 'wrong-behind-prelude');
  expect(errors).toEqual([expect.stringMatching(/^docs\/wrong\.md:3: error TS2339: /)]);
});

test('A prelude that is not there is an error', async () => {
  const page = aPage('docs/wrong.md', '<!-- prelude: none -->', '```ts', '```');
  await expect(compile(examplesIn([page]).examples, 'no-prelude')).rejects.toThrow(
    'docs/wrong.md:3: there is no prelude none',
  );
});

test('Code that throws when it is run is found', async () => {
  const page = aPage('docs/wrong.md', '```ts run', "throw new Error('on purpose');", '```');
  const { examples } = examplesIn([page]);
  const compiled = await compile(examples, 'wrong-when-run');
  expect(compiled.errors).toEqual([]);
  const ran = await Promise.all(examples.map((example) => run(compiled.fileOf(example))));
  expect(ran).toEqual([{ code: 1, stdout: '', stderr: expect.stringContaining('Error: on purpose') }]);
});

test.each(['', 'js', 'typescript', 'ts runs', 'ts no-check', 'ts no-check:', 'text output', 'sh run'])(
  'A block may not be fenced as "%s"',
  (fence) => {
    const { examples, unknown } = examplesIn([aPage('docs/wrong.md', `\`\`\`${fence}`, 'code', '```')]);
    expect(examples).toEqual([]);
    expect(unknown).toEqual([`docs/wrong.md:2: \`\`\`${fence}`]);
  },
);

test('A block that is left unchecked says why', () => {
  const { examples } = examplesIn([aPage('docs/a.md', '```ts no-check: needs a server', 'code', '```')]);
  expect(examples.map(({ treatment }) => treatment)).toEqual([{ type: 'unchecked', reason: 'needs a server' }]);
});

test('Blocks in lists and blocks fenced with tildes are found', () => {
  const { blocks } = readMarkdown(
    ['- a list', '', '  ```ts', '  one;', '    two;', '  ```', '', '~~~ts', 'three;', '~~~'].join('\n'),
  );
  expect(blocks.map(({ code, line }) => [line, code])).toEqual([
    [4, 'one;\n  two;\n'],
    [9, 'three;\n'],
  ]);
});

test('A block without an end is an error', () => {
  expect(() => readMarkdown('a\n```ts\ncode')).toThrow('The block that begins on line 2 has no end');
});

test('A link to no file, or to no anchor, is found', () => {
  const page = aPage(
    'docs/wrong.md',
    '# A title, `with` signs!',
    '[a](none.md) [b](#a-title-with-signs) [c](#none) `[d](none.md)`',
  );
  expect(brokenLinks(ROOT, [page])).toEqual([
    'docs/wrong.md:2: none.md: no such file',
    'docs/wrong.md:2: #none: no such anchor',
  ]);
});

test('A page that no other links to is found', () => {
  expect(
    orphans([aPage('README.md', '[a](docs/a.md)'), aPage('docs/a.md', ''), aPage('docs/b.md', '[b](b.md)')]),
  ).toEqual(['docs/b.md']);
});

function aPage(path: string, ...lines: string[]): Document {
  return { path, ...readMarkdown(lines.join('\n')) };
}
