import { bareTableName } from '@q/core/driver-kit';

/** The schema a table name means. Without one it is `main`, so that no temporary table of the same name is ever met. */
export function schemaName(table: string): string {
  const dot = table.indexOf('.');
  return dot === -1 ? 'main' : table.slice(0, dot);
}

/** `"main"."queue_jobs"`: quoted, because a plain name may be a keyword of SQL. */
export function quotedTable(table: string): string {
  return `"${schemaName(table)}"."${bareTableName(table)}"`;
}
