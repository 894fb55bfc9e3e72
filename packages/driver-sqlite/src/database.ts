import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';
import { schemaName } from './table-names.js';

/**
 * What the driver calls on a better-sqlite3 `Database`. Structural, so that an application with another copy of the
 * client, or of its types, passes its own.
 */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  readonly readonly: boolean;
  prepare(source: string): SqliteStatement;
  exec(source: string): unknown;
  close(): unknown;
}

export interface SqliteStatement {
  safeIntegers(on: boolean): unknown;
  run(...parameters: unknown[]): { readonly changes: number };
  all(...parameters: unknown[]): unknown[];
}

/** Where the tables are, as seen from one connection. */
export interface Location {
  /** The file of the connection's main database. */
  readonly mainFile: string;
  /** The file the jobs are in: the main one, or that of an attached database. */
  readonly jobsFile: string;
  /** The attached databases that the table names mention: schema and file. */
  readonly attached: readonly (readonly [schema: string, file: string])[];
}

export function isDatabase(value: unknown): value is SqliteDatabase {
  if (typeof value !== 'object' || value === null) return false;
  // The cast: any object may be asked for any property.
  const candidate = value as Readonly<Record<keyof SqliteDatabase, unknown>>;
  const hasMethods = (['prepare', 'exec', 'close'] as const).every((name) => typeof candidate[name] === 'function');
  return hasMethods && typeof candidate.open === 'boolean' && typeof candidate.inTransaction === 'boolean';
}

/** The database a driver is built on. Throws `invalid_option`, and `store_unavailable` for one that is closed. */
export function checkDatabase(value: unknown): SqliteDatabase {
  if (!isDatabase(value)) {
    throw new QueueError('invalid_option', `SqliteDriver needs a better-sqlite3 Database; got ${kindOf(value)}`);
  }
  if (!value.open) {
    throw new QueueError('store_unavailable', 'The Database that SqliteDriver was given is closed');
  }
  return value;
}

/**
 * Where a connection has the tables. Null: a table is in memory or in a temporary database, which no other connection
 * can see. Throws `store_unavailable` where a schema named is not attached.
 */
export function locate(db: SqliteDatabase, tables: readonly string[]): Location | null {
  const files = databaseFiles(db);
  const schemas = tables.map(schemaName);
  const found = schemas.map((schema, index) => {
    const file = files.get(schema.toLowerCase());
    if (file !== undefined) return file;
    throw new QueueError(
      'store_unavailable',
      `"${tables[index]}" names a database "${schema}" that is not attached to this connection. ATTACH it first`,
    );
  });
  const mainFile = files.get('main') ?? '';
  if (mainFile === '' || found.includes('')) return null;
  const named = new Map(schemas.map((schema, index) => [schema.toLowerCase(), found[index] ?? '']));
  named.delete('main');
  return { mainFile, jobsFile: found[0] ?? mainFile, attached: [...named] };
}

/** A second connection, through the application's own class: one copy of the client, and no import of it here. */
export function openAnother(db: SqliteDatabase, location: Location): SqliteDatabase {
  const Database = classOf(db);
  // fileMustExist: a file moved away meanwhile is an error, not a new empty database. No timeout: SQLite would wait by
  // blocking the event loop; the driver waits by itself, asynchronously.
  const another = new Database(location.mainFile, { fileMustExist: true, readonly: db.readonly, timeout: 0 });
  try {
    for (const [schema, file] of location.attached) another.prepare(`ATTACH ? AS "${schema}"`).run(file);
    return another;
  } catch (error) {
    another.close();
    throw error;
  }
}

type DatabaseClass = new (
  file: string,
  options: { readonly fileMustExist: boolean; readonly readonly: boolean; readonly timeout: number },
) => SqliteDatabase;

/** The class that has `prepare`, not `db.constructor`: the constructor of a subclass may take other arguments. */
function classOf(db: SqliteDatabase): DatabaseClass {
  let holder: object = db;
  while (!Object.hasOwn(holder, 'prepare')) holder = Object.getPrototypeOf(holder) as object;
  // The cast: what has better-sqlite3's `prepare` on its prototype has its constructor.
  return holder.constructor as DatabaseClass;
}

/** Schema, in lower case, to absolute file; `''` for one without a file. */
function databaseFiles(db: SqliteDatabase): Map<string, string> {
  // The cast: the columns of the pragma.
  const rows = db.prepare('PRAGMA database_list').all() as { readonly name: string; readonly file: string | null }[];
  const files = new Map(rows.map(({ name, file }) => [name.toLowerCase(), file ?? '']));
  // Listed by SQLite only once it is used.
  if (!files.has('temp')) files.set('temp', '');
  return files;
}
