type Scalar = string | number | bigint | null;

/** What a statement may be given: plain text and whole numbers, lists of them, lists of rows, and ids to join with. */
type Value = Scalar | readonly (Scalar | readonly Scalar[])[] | IdTable;

/** Ids as a table of one column, `id`: `SELECT 1 AS id UNION ALL SELECT 2 …`. */
export class IdTable {
  readonly ids: readonly (number | bigint)[];

  constructor(ids: readonly (number | bigint)[]) {
    this.ids = ids;
  }
}

export type Parameters = Readonly<Record<string, Value>>;

// What means the same in every character set that a connection can be in, and in every sql_mode.
const PLAIN = /^[\w .:/-]+$/;

/**
 * The statement with its values in it: `:name` becomes what `parameters` has under that name.
 *
 * The client's own placeholders are not used. `query` escapes with backslashes, which NO_BACKSLASH_ESCAPES reads as part of
 * the text, expands objects and lists, and asks the application's `queryFormat`; `execute` prepares statements, which some
 * proxies cannot and of which a server has a limited number; both encode text in the character set of the application's
 * connection, in which an emoji may not exist. Here text that is more than letters, digits and a few signs is written as its
 * bytes in UTF-8, in hexadecimal: a statement is plain ASCII, whatever is in it, and means one thing everywhere.
 */
export function render(text: string, parameters: Parameters): string {
  return text.replace(/:(\w+)/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`a statement was given no ${name}`);
    return rendered(value);
  });
}

function rendered(value: Value): string {
  if (value instanceof IdTable) return `SELECT ${value.ids.map(literal).join(' AS id UNION ALL SELECT ')} AS id`;
  if (!isList(value)) return literal(value);
  return value.map((one) => (isList(one) ? `(${one.map(literal).join(', ')})` : literal(one))).join(', ');
}

function literal(value: Scalar): string {
  if (value === null) return 'NULL';
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') throw new TypeError(`a statement was given a ${typeof value}`);
  return PLAIN.test(value) ? `'${value}'` : `_utf8mb4 X'${Buffer.from(value, 'utf8').toString('hex')}'`;
}

function isList<T>(value: Scalar | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
