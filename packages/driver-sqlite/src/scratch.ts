import { randomBytes } from 'node:crypto';
import type { PreparedStatements } from './prepared.js';

/** The tables of a throw-away twin: in the same database, under names that nobody has. */
export function scratchNames(table: string): { readonly table: string; readonly failedTable: string } {
  const schema = table.slice(0, table.indexOf('.') + 1);
  const name = `${schema}queue_scratch_${randomBytes(6).toString('hex')}`;
  return { table: name, failedTable: `${name}_failed` };
}

export function dropTables(statements: PreparedStatements): void {
  statements.run('dropJobs');
  statements.run('dropFailed');
}
