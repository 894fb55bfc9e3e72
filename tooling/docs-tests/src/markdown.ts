/** A fenced block of code. */
export interface Block {
  /** The first word after the fence: the language. */
  readonly language: string;
  /** What follows it, as it is written. */
  readonly info: string;
  /** The line of its first line of code, counted from 1. */
  readonly line: number;
  readonly code: string;
  /** The file of `preludes/` that is put before it: `<!-- prelude: name -->` right above. */
  readonly prelude: string | null;
}

interface Link {
  readonly target: string;
  readonly line: number;
}

export interface Markdown {
  readonly blocks: readonly Block[];
  readonly links: readonly Link[];
  /** What a link may name after `#`: headings as GitHub spells them, and `<a id="…">`. */
  readonly anchors: ReadonlySet<string>;
}

/** As much of a Markdown file as is tried out here. */
export function readMarkdown(text: string): Markdown {
  const blocks: Block[] = [];
  const links: Link[] = [];
  const anchors = new Set<string>();
  const headings = new Map<string, number>();
  let prelude: string | null = null;
  let open: Fence | null = null;

  text.split('\n').forEach((line, index) => {
    const fence = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line);
    if (open !== null) {
      if (fence?.[2]?.startsWith(open.mark) && fence[3]?.trim() === '') {
        blocks.push(blockOf(open));
        open = null;
      } else open.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
      return;
    }
    if (fence !== null) {
      const [, indent = '', mark = '', info = ''] = fence;
      open = { indent: indent.length, mark, info: info.trim(), line: index + 2, lines: [], prelude };
      prelude = null;
      return;
    }
    const comment = /^\s*<!--\s*prelude:\s*(\S+)\s*-->\s*$/.exec(line);
    if (comment !== null) prelude = comment[1] ?? null;
    else if (line.trim() !== '') prelude = null;
    const heading = /^#{1,6}\s+(.*?)\s*$/.exec(line)?.[1];
    if (heading !== undefined) anchors.add(unusedSlug(slugOf(heading), headings));
    for (const [, id] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id ?? '');
    for (const target of targetsIn(line)) links.push({ target, line: index + 1 });
  });
  if (open !== null) throw new Error(`The block that begins on line ${(open as Fence).line - 1} has no end`);
  return { blocks, links, anchors };
}

interface Fence {
  readonly indent: number;
  readonly mark: string;
  readonly info: string;
  readonly line: number;
  readonly lines: string[];
  readonly prelude: string | null;
}

function blockOf({ info, line, lines, prelude }: Fence): Block {
  const [language = '', ...rest] = info.split(/\s+/);
  return { language, info: rest.join(' '), line, code: `${lines.join('\n')}\n`, prelude };
}

function targetsIn(line: string): string[] {
  const prose = line.replace(/(`+).*?\1/g, '');
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const definitions = [...prose.matchAll(/^\s*\[[^\]]+\]:\s+(\S+)/g)];
  const html = [...prose.matchAll(/<a\s[^>]*href="([^"]+)"/g)];
  return [...inline, ...definitions, ...html].map(([, target]) => target ?? '');
}

/** GitHub's rule: lower case, letters, digits, hyphens and underscores; each space a hyphen. */
function slugOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/<[^>]*>/g, '');
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

function unusedSlug(slug: string, used: Map<string, number>): string {
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}
