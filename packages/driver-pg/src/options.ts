import { QueueError } from '@q/core';
import {
  assertTableName,
  type DriverOptions,
  kindOf,
  type SettledDriverOptions,
  settleOptions,
} from '@q/core/driver-kit';

/**
 * When a push is announced to workers that wait. True: with the push, in a transaction of the application's too.
 * `'outside-transactions'`: a commit that announces something takes a lock of the whole database, so very busy writers
 * may want theirs to do without. False: never; workers find jobs by polling.
 */
export type Notify = boolean | 'outside-transactions';

/** How to connect, as `pg.Client` takes it: a connection string, or a config. */
export type ListenConfig = string | { readonly [setting: string]: unknown };

export interface PgDriverOptions extends DriverOptions {
  /** The table of jobs, with or without its schema. Default `queue_jobs`. */
  readonly table?: string;
  /** The table of failed jobs. Default `queue_failed_jobs`. */
  readonly failedTable?: string;
  /** Default true. */
  readonly notify?: Notify;
  /**
   * How to open the one connection that listens for pushes. Default: as the pool opens its own. Behind a pooler: a direct
   * connection. False: none, and workers find jobs by polling.
   */
  readonly listen?: ListenConfig | false;
}

export interface SettledPgOptions extends SettledDriverOptions {
  readonly table: string;
  readonly failedTable: string;
  readonly notify: Notify;
  /** Null: as the pool does. */
  readonly listen: ListenConfig | false | null;
}

/** The options with their defaults, checked. */
export function settlePgOptions(options: PgDriverOptions): SettledPgOptions {
  if (typeof options !== 'object' || options === null) {
    throw new QueueError('invalid_option', `The options of PgDriver have to be an object; got ${kindOf(options)}`);
  }
  const table = assertTableName(options.table ?? 'queue_jobs');
  const failedTable = assertTableName(options.failedTable ?? 'queue_failed_jobs');
  if (table === failedTable) {
    throw new QueueError('invalid_option', `Jobs and failed jobs need a table each; both were given as "${table}"`);
  }
  return {
    ...settleOptions(options, 'PgDriver'),
    table,
    failedTable,
    notify: checkNotify(options.notify ?? true),
    listen: checkListen(options.listen ?? null),
  };
}

function checkNotify(value: unknown): Notify {
  if (typeof value === 'boolean' || value === 'outside-transactions') return value;
  throw new QueueError(
    'invalid_option',
    `notify has to be true, false or 'outside-transactions'; got ${kindOf(value)}`,
  );
}

function checkListen(value: ListenConfig | false | null): ListenConfig | false | null {
  if (value === false || value === null || typeof value === 'string' || typeof value === 'object') return value;
  throw new QueueError('invalid_option', `listen has to be false, or what pg.Client takes; got ${kindOf(value)}`);
}
