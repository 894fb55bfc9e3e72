import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject } from 'vitest';
import { check } from '../src/check.js';
import { TSC } from '../src/exports.js';
import { Project } from '../src/project.js';
import { published } from '../src/release.js';
import { ROOT } from '../src/workspace-copy.js';

const EXAMPLE = join(ROOT, 'examples', 'driver-of-your-own');
const inTable = (column: string) => ({ table: "a stranger's driver", row: 'examples/driver-of-your-own', column });

const OPTIONS = {
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: ['node'],
  rootDir: '.',
  outDir: 'dist',
};

describe('a driver of your own, in a folder outside this workspace', () => {
  const release = inject('release');
  let project: Project;

  beforeAll(async () => {
    project = await Project.make(release, 'npm');
    for (const part of ['src', 'test']) await cp(join(EXAMPLE, part), join(project.folder, part), { recursive: true });
    const tsconfig = { compilerOptions: OPTIONS, include: ['src', 'test'] };
    await project.write({ 'tsconfig.json': JSON.stringify(tsconfig) });
  });

  check(inTable('install'), 'needs core, and the suite for its tests', async () => {
    await project.install([published(release, '@q/core'), published(release, '@q/conformance'), 'fast-check@4']);
  });

  check(inTable('types'), 'compiles against the declarations of the packages', async () => {
    await project.run(TSC, '-p', '.');
  });

  check(inTable('conformance'), 'passes the suite under node:test, and skips by name what it lacks', async () => {
    const tests = ['journal-driver', 'processes'].map((name) => `dist/test/${name}.test.js`);
    const output = await project.node(['--test', '--test-reporter=spec', ...tests]);
    const [passed, failed, skipped] = ['pass', 'fail', 'skipped'].map((kind) => count(output, kind));
    expect(failed).toBe(0);
    // The suite grows; the example has half of all abilities.
    expect(passed).toBeGreaterThan(200);
    expect(skipped).toBe(output.match(/; skipped: /g)?.length);
    return `${passed} passed, ${skipped} skipped`;
  });
});

function count(output: string, kind: string): number {
  return Number(new RegExp(`^ℹ ${kind} (\\d+)$`, 'm').exec(output)?.[1]);
}
