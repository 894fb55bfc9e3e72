import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { checkCommittedText } from '../src/committed-text.js';
import { aTree } from './a-tree.js';

/** What is found in a checkout with these files. */
function findingsIn(files: Readonly<Record<string, string>>): string[] {
  const root = aTree(files);
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  return checkCommittedText(root).map(({ where, what }) => `${where} ${what}`);
}

// Put together here, so that this file does not say what it forbids.
const slashed = (...parts: readonly string[]) => `/${parts.join('/')}/`;
const url = (host: string, file: string) => `https:/${slashed(host, 'x', '-')}${file}`;

it.each([slashed('work'), slashed('root', 'x'), slashed('farm'), `${slashed('tmp')}bash_${'jobs'}`])(
  'finds the machine path %s, and its line',
  (path) => {
    expect(findingsIn({ 'docs/a.md': `fine\n\nsee ${path}` })).toEqual(['docs/a.md:3 names a path of one machine']);
  },
);

it('finds where a lockfile says its packages came from', () => {
  const lock = `a:\n  resolution: {integrity: x, tarball: ${url('example.org', 'a-1.0.0.tgz')}}`;
  expect(findingsIn({ 'pnpm-lock.yaml': lock, 'docs/pnpm-lock.md': lock })).toEqual([
    'pnpm-lock.yaml:2 names a host that packages came from',
  ]);
});

it('finds a registry in the settings', () => {
  const setting = `registry${'='}${url('example.org', '')}`;
  expect(findingsIn({ '.npmrc': setting })).toEqual(['.npmrc:1 names a registry']);
});

it('leaves alone what is ignored, what is binary, and what .ci says of its own machine', () => {
  const path = slashed('work');
  expect(findingsIn({ '.gitignore': 'dist/', 'dist/a.js': path, 'a.png': `\0${path}`, '.ci/run': path })).toEqual([]);
});
