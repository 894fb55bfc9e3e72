import { type TestContext, test } from 'vitest';

/** Where the result of a test stands in the tables that are printed at the end. */
export interface Cell {
  readonly table: string;
  readonly row: string;
  readonly column: string;
  /** Instead of `ok`: a figure. */
  readonly figure?: string;
}

declare module 'vitest' {
  interface TaskMeta {
    cell?: Cell;
  }
}

/** A test whose result stands in a table too. A text that the body gives, or resolves to, is shown there. */
export function check(cell: Omit<Cell, 'figure'>, name: string, body: () => unknown): void {
  test(name, async ({ task }: TestContext) => {
    task.meta.cell = cell;
    const figure = await body();
    if (typeof figure === 'string') task.meta.cell = { ...cell, figure };
  });
}
