import type { Document } from './documents.js';
import type { Block } from './markdown.js';

/** A block of TypeScript in a page, and what is to be done with it. */
export interface Example {
  /** Page and line of its first line of code. */
  readonly where: string;
  readonly page: string;
  readonly line: number;
  readonly code: string;
  readonly prelude: string | null;
  readonly treatment: Treatment;
}

/**
 * - `ts`: compiled. `ts run`: compiled and run, and if a block `text output` follows it, that is what it prints.
 * - `ts no-check: <reason>`: neither.
 */
type Treatment =
  | { readonly type: 'compiled' }
  | { readonly type: 'run'; readonly output: string | null }
  | { readonly type: 'unchecked'; readonly reason: string };

/** Languages a block may have. A block of TypeScript or JavaScript by another name would escape. */
const OTHERS = ['sh', 'sql', 'json', 'yaml', 'text'];

export interface Examples {
  readonly examples: readonly Example[];
  /** Blocks that are neither an example nor anything else known here. */
  readonly unknown: readonly string[];
}

/** The examples of all pages. */
export function examplesIn(pages: readonly Document[]): Examples {
  const examples: Example[] = [];
  const unknown: string[] = [];
  for (const { path, blocks } of pages) {
    blocks.forEach((block, index) => {
      const where = `${path}:${block.line}`;
      const { line, code, prelude } = block;
      const treatment = treatmentOf(block, blocks[index + 1]);
      if (treatment !== null) examples.push({ where, page: path, line, code, prelude, treatment });
      else if (!isOther(block, blocks[index - 1]))
        unknown.push(`${where}: \`\`\`${block.language} ${block.info}`.trim());
    });
  }
  return { examples, unknown };
}

function treatmentOf(block: Block, next: Block | undefined): Treatment | null {
  if (block.language !== 'ts') return null;
  if (block.info === '') return { type: 'compiled' };
  if (block.info === 'run') return { type: 'run', output: isOutput(next) ? (next?.code ?? null) : null };
  const reason = /^no-check: (\S.*)$/.exec(block.info)?.[1];
  return reason === undefined ? null : { type: 'unchecked', reason };
}

function isOther(block: Block, before: Block | undefined): boolean {
  if (isOutput(block)) return before?.language === 'ts' && before.info === 'run';
  return OTHERS.includes(block.language) && block.info === '' && block.prelude === null;
}

function isOutput(block: Block | undefined): boolean {
  return block?.language === 'text' && block.info === 'output';
}
