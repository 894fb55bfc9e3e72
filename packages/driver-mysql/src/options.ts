import { QueueError } from '@q/core';
import {
  assertTableName,
  checkInteger,
  type DriverOptions,
  kindOf,
  type SettledDriverOptions,
  settleOptions,
} from '@q/core/driver-kit';

export interface MysqlDriverOptions extends DriverOptions {
  /** The table of jobs, with or without its database. Default `queue_jobs`. */
  readonly table?: string;
  /** The table of failed jobs. Default `queue_failed_jobs`. */
  readonly failedTable?: string;
  /**
   * How often, in milliseconds, this process looks for jobs that others pushed while a worker waits for one: one cheap
   * query. Default 50. 0: never; a worker then finds the jobs of other processes when it polls.
   */
  readonly lookEveryMs?: number;
}

export interface SettledMysqlOptions extends SettledDriverOptions {
  readonly table: string;
  readonly failedTable: string;
  /** 0: never. */
  readonly lookEveryMs: number;
}

// As far as a timer reaches.
const LONGEST_MS = 2_147_483_647;

/** The options with their defaults, checked. */
export function settleMysqlOptions(options: MysqlDriverOptions): SettledMysqlOptions {
  if (typeof options !== 'object' || options === null) {
    throw new QueueError('invalid_option', `The options of MysqlDriver have to be an object; got ${kindOf(options)}`);
  }
  const table = assertTableName(options.table ?? 'queue_jobs');
  const failedTable = assertTableName(options.failedTable ?? 'queue_failed_jobs');
  // On some servers names that differ in case alone are one table.
  if (table.toLowerCase() === failedTable.toLowerCase()) {
    throw new QueueError('invalid_option', `Jobs and failed jobs need a table each; both were given as "${table}"`);
  }
  return {
    ...settleOptions(options, 'MysqlDriver'),
    table,
    failedTable,
    lookEveryMs: checkInteger('lookEveryMs', options.lookEveryMs ?? 50, 0, LONGEST_MS),
  };
}
