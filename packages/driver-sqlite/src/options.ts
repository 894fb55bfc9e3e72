import { QueueError } from '@q/core';
import {
  assertTableName,
  type DriverOptions,
  kindOf,
  type SettledDriverOptions,
  settleOptions,
} from '@q/core/driver-kit';

export interface SqliteDriverOptions extends DriverOptions {
  /** The table of jobs, with or without its schema. Default `queue_jobs`. */
  readonly table?: string;
  /** The table of failed jobs. Default `queue_failed_jobs`. */
  readonly failedTable?: string;
}

export interface SettledSqliteOptions extends SettledDriverOptions {
  readonly table: string;
  readonly failedTable: string;
}

/** The options with their defaults, checked. */
export function settleSqliteOptions(options: SqliteDriverOptions): SettledSqliteOptions {
  if (typeof options !== 'object' || options === null) {
    throw new QueueError('invalid_option', `The options of SqliteDriver have to be an object; got ${kindOf(options)}`);
  }
  const table = assertTableName(options.table ?? 'queue_jobs');
  const failedTable = assertTableName(options.failedTable ?? 'queue_failed_jobs');
  if (table.toLowerCase() === failedTable.toLowerCase()) {
    throw new QueueError('invalid_option', `Jobs and failed jobs need a table each; both were given as "${table}"`);
  }
  return { ...settleOptions(options, 'SqliteDriver'), table, failedTable };
}
