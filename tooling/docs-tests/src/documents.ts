import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Markdown, readMarkdown } from './markdown.js';

/** The root of the workspace. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

export interface Document extends Markdown {
  /** From the root, with slashes. */
  readonly path: string;
}

/** Every page a reader is meant to read: those of the root, `docs/`, and the README of each package, tool and example. */
export function documents(): Document[] {
  const paths = [
    ...filesIn('.', { deep: false }),
    ...filesIn('.changeset', { deep: false }),
    ...filesIn('docs', { deep: true }),
    ...['packages', 'tooling', 'examples'].flatMap((group) =>
      readdirSync(join(ROOT, group)).map((name) => `${group}/${name}/README.md`),
    ),
  ].filter((path) => path.endsWith('.md') && existsSync(join(ROOT, path)));
  return paths.map((path) => {
    try {
      return { path, ...readMarkdown(readFileSync(join(ROOT, path), 'utf8')) };
    } catch (error) {
      throw new Error(`${path}: ${error instanceof Error ? error.message : error}`);
    }
  });
}

function filesIn(folder: string, { deep }: { readonly deep: boolean }): string[] {
  return readdirSync(join(ROOT, folder), { recursive: deep, encoding: 'utf8' })
    .map((name) => (folder === '.' ? name : `${folder}/${name.split(sep).join('/')}`))
    .sort();
}
