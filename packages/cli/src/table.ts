import { type Output, printable } from './output.js';

export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  readonly value: (row: Row) => string | number;
}

const BORDERS = [
  ...['top', 'top-left', 'top-mid', 'top-right', 'bottom', 'bottom-left', 'bottom-mid', 'bottom-right'],
  ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
];
// Two spaces between columns and nothing else: it can be read, and cut up by awk.
const BORDERLESS = { ...Object.fromEntries(BORDERS.map((place) => [place, ''])), middle: '  ' };

/** Rows under their titles. What the store holds cannot reach the terminal as anything but text. */
export async function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], out: Output): Promise<string> {
  // Loaded where there is a table: a worker, which cron may start every minute, draws none.
  const { default: Table } = await import('cli-table3');
  const drawn = new Table({
    chars: BORDERLESS,
    colAligns: columns.map(({ align = 'left' }) => align),
    head: columns.map(({ title }) => out.colors.bold(title)),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) drawn.push(columns.map(({ value }) => printable(String(value(row)))));
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
