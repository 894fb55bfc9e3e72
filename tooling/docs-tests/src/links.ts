import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import type { Document } from './documents.js';

/** The relative links of all pages that lead nowhere: to no file, or to no anchor in it. */
export function brokenLinks(root: string, pages: readonly Document[]): string[] {
  return pages.flatMap((page) =>
    page.links
      .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
      .flatMap(({ target, line }) => {
        const problem = problemOf(root, pages, page.path, target);
        return problem === null ? [] : [`${page.path}:${line}: ${target}: ${problem}`];
      }),
  );
}

/** Pages of `docs/` that no other page links to. */
export function orphans(pages: readonly Document[]): string[] {
  const linked = new Set(
    pages.flatMap(({ path, links }) =>
      links.map(({ target }) => resolve(path, target.split('#')[0] ?? '')).filter((target) => target !== path),
    ),
  );
  return pages.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path));
}

/** Pages that the source mentions (`docs/protocol.md#fence`, `docs/decisions/0004`) and that are not there. */
export function brokenMentions(root: string, pages: readonly Document[]): string[] {
  return sourceFiles(root).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/\bdocs\/[\w-]+(?:\/[\w-]+)*(?:\.md)?(?:#[\w-]+)?/g)]
      .map(([mention]) => mention)
      .filter((mention) => !isThere(pages, mention))
      .map((mention) => `${file}: ${mention}`);
  });
}

function isThere(pages: readonly Document[], mention: string): boolean {
  const [path = '', anchor] = mention.split('#');
  const decision = /^docs\/decisions\/\d{4}$/.test(path);
  const page = pages.find((each) => (decision ? each.path.startsWith(`${path}-`) : each.path === path));
  return page !== undefined && (anchor === undefined || page.anchors.has(anchor));
}

function problemOf(root: string, pages: readonly Document[], from: string, target: string): string | null {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : resolve(from, file);
  const page = pages.find((each) => each.path === path);
  if (page === undefined && !existsSync(join(root, path))) return 'no such file';
  if (anchor === undefined) return null;
  if (page === undefined) return 'not a page, so it has no anchors';
  return page.anchors.has(anchor) ? null : 'no such anchor';
}

function resolve(from: string, file: string): string {
  return posix.normalize(posix.join(posix.dirname(from), decodeURI(file)));
}

function sourceFiles(root: string): string[] {
  return ['packages', 'examples'].flatMap((group) =>
    readdirSync(join(root, group)).flatMap((name) => {
      const src = join(root, group, name, 'src');
      if (!existsSync(src)) return [];
      return readdirSync(src, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${group}/${name}/src/${file.split(sep).join('/')}`);
    }),
  );
}
