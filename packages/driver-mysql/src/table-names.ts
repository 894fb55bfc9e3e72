import { bareTableName } from '@q/core/driver-kit';

/**
 * `` `app`.`queue_jobs` ``: quoted, because a plain name may be a keyword of SQL; with backticks, which every sql_mode takes
 * for the quotes of a name. Without a database it is the connection's.
 */
export function quotedTable(table: string): string {
  return table
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
}

/** `` `idx_queue_jobs_reserve` ``. In MySQL the names of indexes are the table's own. */
export function quotedIndex(table: string, what: 'reserve' | 'unique_key' | 'failed_at'): string {
  return `\`idx_${bareTableName(table)}_${what}\``;
}
