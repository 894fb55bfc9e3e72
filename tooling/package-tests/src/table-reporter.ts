import type { Reporter, TestModule } from 'vitest/node';
import type { Cell } from './check.js';

/** Prints the results as tables, after everything else: what was checked down the side, the checks across. */
export class TableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cells = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => {
        const { cell } = test.meta();
        return cell === undefined ? [] : [{ ...cell, text: textOf(cell, test.result().state) }];
      }),
    );
    for (const table of new Set(cells.map((cell) => cell.table))) {
      const own = cells.filter((cell) => cell.table === table);
      const rows = [...new Set(own.map(({ row }) => row))].sort();
      const columns = [...new Set(own.map(({ column }) => column))];
      const lines = rows.map((row) => [
        row,
        ...columns.map((column) => own.find((cell) => cell.row === row && cell.column === column)?.text ?? ''),
      ]);
      console.log(`\n${aligned([[table, ...columns], ...lines])}`);
    }
  }
}

function textOf({ figure = 'ok' }: Cell, state: string): string {
  return state === 'passed' ? figure : state === 'failed' ? 'FAILED' : state;
}

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
