import { SCENARIOS, type Scenario } from './scenarios.js';

const BEGIN = '<!-- matrix -->';
const END = '<!-- /matrix -->';

/** What became of a cell: it held, perhaps with a remark; it did not; or why it was not tried. */
export type Result = 'yes' | 'no' | { readonly remark: string } | { readonly why: string };

/** The cells of one library on one store. */
export interface ResultRow {
  readonly library: string;
  readonly store: string;
  readonly results: Readonly<Record<Scenario, Result>>;
}

/** The page with the table of these results in it. Throws where the page has no place for it. */
export function withTable(page: string, rows: readonly ResultRow[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`The page has no ${BEGIN} with a ${END} after it`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${tableOf(rows)}\n\n${page.slice(end)}`;
}

function tableOf(rows: readonly ResultRow[]): string {
  const notes: string[] = [];
  const scenarios = Object.keys(SCENARIOS) as Scenario[];
  const cells = rows.map(({ library, store, results }) => [
    library,
    store,
    ...scenarios.map((name) => cellOf(results[name], notes)),
  ]);
  const lines = markdown(['library', 'store', ...scenarios], cells);
  return [...lines, '', ...notes.map((note, index) => `${index + 1}. ${note}.`)].join('\n');
}

/** A cell that is empty, or has a remark, has the number of its note in the list. */
function cellOf(result: Result, notes: string[]): string {
  if (typeof result === 'string') return result;
  const [sign, note] = 'why' in result ? ['–', result.why] : ['yes', result.remark];
  if (!notes.includes(note)) notes.push(note);
  return `${sign} (${notes.indexOf(note) + 1})`;
}

/** The lines of a table, its columns as wide as their widest cell. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line);
}
