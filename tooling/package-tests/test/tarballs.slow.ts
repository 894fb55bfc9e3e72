import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { describe, expect, inject, test } from 'vitest';
import { check } from '../src/check.js';
import { published } from '../src/release.js';
import { run } from '../src/run.js';
import type { Manifest } from '../src/workspace-copy.js';

const { packages } = inject('release');
const ATTW = join(import.meta.dirname, '..', 'node_modules', '.bin', 'attw');

/** Of core, packed, with its sources and maps: what everybody downloads. */
const CORE_BUDGET_KIB = 160;

describe.each(packages)('$name', ({ name, manifest, unpacked, tarball, bytes }) => {
  const inTable = (column: string) => ({ table: 'tarball', row: name, column });

  check(inTable('files'), 'holds what it says, what a user reads, and nothing of the tests', async () => {
    const files = await filesOf(unpacked);
    for (const path of [...entries(manifest), 'README.md', 'LICENSE', 'CHANGELOG.md']) expect(files).toContain(path);
    const others = files.filter(
      (path) => !/^(?:src|dist)\/|^(?:README\.md|LICENSE|CHANGELOG\.md|package\.json)$/.test(path),
    );
    expect(others).toEqual([]);
    expect(files.filter((path) => /\.tsbuildinfo$|(^|\/)test\/|\.(test|slow)\./.test(path))).toEqual([]);
  });

  check(inTable('built'), 'is built from the sources beside it, with nothing left of others', async () => {
    const files = await filesOf(unpacked);
    const sources = new Set(files.filter((path) => path.startsWith('src/')).map((path) => path.slice(4, -3)));
    const built = files.filter((path) => path.startsWith('dist/')).map((path) => path.slice(5));
    expect(built.filter((path) => !sources.has(path.replace(/(\.d\.ts|\.js)(\.map)?$/, '')))).toEqual([]);
    expect([...sources].filter((path) => !built.includes(`${path}.js`))).toEqual([]);
  });

  check(inTable('ranges'), 'asks for nothing that only this workspace can resolve', () => {
    expect(JSON.stringify(manifest)).not.toMatch(/"(workspace|catalog|link|file|portal):/);
    const wanted = { ...manifest.dependencies, ...manifest.peerDependencies };
    const siblings = Object.keys(wanted).filter((dependency) => dependency.startsWith('@q/'));
    const released = packages.map((one) => one.name);
    expect(siblings.filter((sibling) => !released.includes(sibling))).toEqual([]);
    if (name !== '@q/cli') expect(manifest.dependencies).toBeUndefined();
  });

  check(inTable('publint'), 'gives publint nothing to say', async () => {
    const { messages } = await publint({ pkgDir: unpacked, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
  });

  check(inTable('attw'), 'has types that are right wherever ESM can be used', async () => {
    await run([ATTW, tarball, '--profile', 'esm-only', '--no-emoji'], unpacked);
  });

  if (name.startsWith('@q/driver-')) {
    check(inTable('any client'), 'declares nothing in terms of a client, so every copy of it fits', async () => {
      const declarations = (await filesOf(unpacked)).filter((path) => path.endsWith('.d.ts'));
      const texts = await Promise.all(declarations.map((path) => readFile(join(unpacked, path), 'utf8')));
      const names = texts.flatMap((text) => [...text.matchAll(/(?:\bfrom|\bimport\(|types=)\s*['"]([^'"]+)['"]/g)]);
      const ours = /^(?:\.|node$|node:|@q\/core(?:\/|$))/;
      expect(names).not.toEqual([]);
      expect(names.map(([, name = '']) => name).filter((name) => !ours.test(name))).toEqual([]);
    });
  }

  check(inTable('size'), 'is of a size that is printed, and core within its budget', () => {
    const kib = bytes / 1024;
    if (name === '@q/core') expect(kib).toBeLessThan(CORE_BUDGET_KIB);
    return `${kib.toFixed(0)} KiB`;
  });
});

test('core, whole, asks Node for no file, socket or process', async () => {
  const core = published(inject('release'), '@q/core');
  const { metafile } = await build({
    entryPoints: [join(core.unpacked, 'dist/index.js')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  const others = imports.filter((path) => !/^node:(events|timers|os|async_hooks)(\/|$)/.test(path));
  expect(imports).not.toEqual([]);
  expect(others).toEqual([]);
});

/** The files that `exports` and `bin` name. */
function entries({ exports, bin = {} }: Manifest): string[] {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? target : Object.values(target),
  );
  return [...targets, ...Object.values(bin)].map((path) => path.replace(/^\.\//, ''));
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
