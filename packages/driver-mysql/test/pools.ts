import type mysql from 'mysql2';
import type { StoreKind } from './harness.js';

/** As mysql2's own documentation shows it, for placeholders of the form `:name`. */
function queryFormat(sql: string, values: unknown): string {
  if (typeof values !== 'object' || values === null) return sql;
  return sql.replace(/:(\w+)/g, (text, name: string) => {
    return Object.hasOwn(values, name) ? `'${String(Reflect.get(values, name))}'` : text;
  });
}

/** Pools of applications that made every choice mysql2 leaves them, in two ways, since some exclude each other. */
export const HOSTILE_POOLS: Readonly<Record<string, Omit<StoreKind, 'url'>>> = {
  'every option that changes what is read': {
    pool: {
      timezone: '+05:45',
      rowsAsArray: true,
      namedPlaceholders: true,
      nestTables: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      jsonStrings: true,
      decimalNumbers: true,
      stringifyObjects: true,
      multipleStatements: true,
      flags: ['-FOUND_ROWS'],
      typeCast: () => 'of the application',
      queryFormat,
    } satisfies mysql.PoolOptions,
    wrap: (pool) => pool.promise(),
  },
  'another character set, zone and sql_mode': {
    pool: {
      charset: 'latin1_swedish_ci',
      timezone: 'Z',
      dateStrings: true,
      nestTables: '_',
      typeCast: false,
      disableEval: true,
    } satisfies mysql.PoolOptions,
    onConnection: [
      "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'",
      "SET time_zone = '-08:00'",
      'SET sql_select_limit = 1',
    ],
  },
};
