import { QueueError } from '../errors.js';
import { kindOf, shown } from '../limits.js';

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$/;

// Postgres cuts identifiers at 63 bytes: longer names would give two indexes the same one.
const MAX_PART = 48;

/**
 * The name, if it can stand in SQL: `table` or `schema.table`, letters, digits and underscores, at most 48 characters a
 * part. A table name is an identifier, so it cannot be a parameter; this check, in a driver's constructor, is what keeps
 * anything else out of a statement. Throws `invalid_table_name`.
 */
export function assertTableName(name: unknown): string {
  if (typeof name !== 'string') {
    throw new QueueError('invalid_table_name', `A table name has to be text; got ${kindOf(name)}`);
  }
  if (!PLAIN.test(name)) throw new QueueError('invalid_table_name', `"${escaped(name)}" is not a plain table name`);
  const long = name.split('.').find((part) => part.length > MAX_PART);
  if (long === undefined) return name;
  throw new QueueError(
    'invalid_table_name',
    `"${escaped(name)}" is not a plain table name: each part has at most ${MAX_PART} characters, "${escaped(long)}" has ${long.length}`,
  );
}

/** The table's name without its schema, from which index names are derived: `idx_<table>_reserve`. */
export function bareTableName(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function escaped(name: string): string {
  return shown(name).slice(1, -1);
}
