import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Example } from './examples.js';

const exec = promisify(execFile);

/** This package: what an example imports is what its package.json has. */
const HOME = join(dirname(fileURLToPath(import.meta.url)), '..');

export interface Compiled {
  /** What tsc found, at the lines of the pages. */
  readonly errors: readonly string[];
  /** The JavaScript of an example. */
  fileOf(example: Example): string;
}

/**
 * Compiles all examples in one go, each as a module of its own behind its prelude, as a user's project would: at nodenext,
 * against the built packages, their declarations included. What it writes is in `dist/<name>`.
 */
export async function compile(examples: readonly Example[], name: string): Promise<Compiled> {
  const sources = join(HOME, 'dist', name);
  rmSync(sources, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  // What an example imports from beside itself.
  cpSync(join(HOME, 'preludes', 'modules'), sources, { recursive: true });
  const placed = new Map<string, Placed>();
  for (const example of examples) {
    const file = `${nameOf(example)}.ts`;
    const prelude = preludeOf(example);
    writeFileSync(join(sources, file), prelude + example.code);
    placed.set(file, { example, offset: prelude.split('\n').length - 1 });
  }
  writeFileSync(join(sources, 'tsconfig.json'), JSON.stringify(settings(), null, 2));
  const tsc = join(HOME, 'node_modules', 'typescript', 'bin', 'tsc');
  const lines = await exec(process.execPath, [tsc, '--pretty', 'false', '-p', sources], { maxBuffer: 2 ** 26 }).then(
    () => [],
    (error: { stdout?: string; stderr?: string }) => `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n'),
  );
  return {
    errors: lines.map((line) => atPage(line, placed)),
    fileOf: (example) => join(sources, 'out', `${nameOf(example)}.js`),
  };
}

interface Placed {
  readonly example: Example;
  /** Lines of its prelude. */
  readonly offset: number;
}

function settings() {
  return {
    extends: '@q/tsconfig/base.json',
    // An example may declare what it does not go on to use.
    compilerOptions: { noEmit: false, outDir: 'out', rootDir: '.', noUnusedLocals: false, noUnusedParameters: false },
    include: ['*.ts'],
  };
}

function preludeOf({ where, prelude }: Example): string {
  if (prelude === null) return '';
  const file = join(HOME, 'preludes', `${prelude}.ts`);
  if (!existsSync(file)) throw new Error(`${where}: there is no prelude ${prelude}`);
  return `${readFileSync(file, 'utf8').trimEnd()}\n`;
}

function nameOf({ page, line }: Example): string {
  return `${page.replace(/\.md$/, '').replaceAll(/[^\w-]+/g, '_')}.${line}`;
}

/** `docs_worker.12.ts(3,5): error …` at its line in `docs/worker.md`. */
function atPage(message: string, placed: ReadonlyMap<string, Placed>): string {
  const [, file = '', row = '', rest = ''] = /^(.*?)\((\d+),\d+\)(: .*)$/.exec(message) ?? [];
  const found = placed.get(basename(file));
  if (found === undefined) return message;
  const line = Number(row) - found.offset;
  const where =
    line < 1
      ? `${found.example.where} (its prelude, line ${row})`
      : `${found.example.page}:${found.example.line + line - 1}`;
  return where + rest;
}
