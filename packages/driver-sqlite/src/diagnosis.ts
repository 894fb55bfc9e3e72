import { type Finding, isQueueError } from '@q/core';
import { bareTableName, type FoundTable, type TableTemplate, tableFindings } from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import type { SqliteDatabase } from './database.js';
import { isBusy } from './errors.js';
import { quotedTable, schemaName } from './table-names.js';

interface Names {
  readonly table: string;
  readonly failedTable: string;
}

/** What SQLite, the file and the tables are like, for `q doctor`. */
export async function diagnose(connection: Connection, names: Names): Promise<Finding[]> {
  const found = await connection.read(({ db }) => [
    versionFinding(db),
    placeFinding(connection.file, db),
    ...templates(names).flatMap(([table, template]) => findingsOf(db, table, template)),
  ]);
  return [...found, await writeFinding(connection, names.table)];
}

function versionFinding(db: SqliteDatabase): Finding {
  const [row] = rowsOf(db, 'SELECT sqlite_version() AS version');
  const version = String(row?.version);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 35)) {
    return { level: 'ok', code: 'server_version', message: `SQLite ${version}: one writer at a time` };
  }
  return {
    level: 'error',
    code: 'server_version',
    message: `SQLite ${version} is older than 3.35`,
    advice: 'Upgrade better-sqlite3, which brings it',
  };
}

function placeFinding(file: string | null, db: SqliteDatabase): Finding {
  if (file === null) {
    return {
      level: 'warning',
      code: 'in_memory',
      message: 'The database is in memory, so its jobs end with this process, and no other process sees them',
      advice: 'Give the Database a file, unless this is a test',
    };
  }
  const [row] = rowsOf(db, 'PRAGMA journal_mode');
  if (row?.journal_mode === 'wal') return { level: 'ok', code: 'journal_mode', message: `${file} is in WAL mode` };
  return {
    level: 'warning',
    code: 'journal_mode',
    message: `${file} is in journal mode ${row?.journal_mode}, in which readers and the writer wait for each other`,
    advice: "db.pragma('journal_mode = WAL')",
  };
}

/**
 * A writing transaction that writes nothing. Its statement is needed: on a database that is read only SQLite takes BEGIN
 * IMMEDIATE for a plain BEGIN.
 */
async function writeFinding(connection: Connection, table: string): Promise<Finding> {
  try {
    await connection.write(({ db }) => {
      const isThere = rowsOf(db, `PRAGMA "${schemaName(table)}".table_info("${bareTableName(table)}")`).length > 0;
      if (isThere) db.prepare(`DELETE FROM ${quotedTable(table)} WHERE 0`).run();
    });
    return { level: 'ok', code: 'read_only', message: 'The database takes writes' };
  } catch (error) {
    const code = isBusy(error) || (isQueueError(error) && error.code === 'store_busy') ? 'locked' : 'read_only';
    return {
      level: 'error',
      code,
      message: `The database takes no writes: ${error instanceof Error ? error.message : String(error)}`,
      advice:
        code === 'locked'
          ? 'End the transaction that holds it, which may be of another process'
          : 'Open the Database without `readonly`, and let this user write to the file and its folder',
    };
  }
}

/** The template of schema.ts, by the affinities of its columns. */
function templates({ table, failedTable }: Names): [table: string, template: TableTemplate][] {
  const primary = { columns: 'id', isUnique: true, level: 'error', without: 'a job gets no id' } as const;
  const jobs: TableTemplate = {
    columns: {
      id: 'INTEGER',
      queue: 'TEXT',
      name: 'TEXT',
      payload: 'TEXT',
      attempts: 'INTEGER',
      max_attempts: 'INTEGER',
      priority: 'INTEGER',
      unique_key: 'TEXT null',
      available_at: 'TEXT',
      reserved_until: 'TEXT null',
      reserved_by: 'TEXT null',
      last_error: 'TEXT',
      created_at: 'TEXT',
    },
    indexes: [
      primary,
      { columns: 'queue, priority, available_at, id', level: 'warning', without: 'every claim reads the whole table' },
      { columns: 'unique_key', isUnique: true, level: 'error', without: 'every push is refused' },
    ],
  };
  const failed: TableTemplate = {
    columns: {
      id: 'INTEGER',
      queue: 'TEXT',
      name: 'TEXT',
      payload: 'TEXT',
      attempts: 'INTEGER',
      error: 'TEXT',
      failed_at: 'TEXT',
    },
    indexes: [
      primary,
      { columns: 'failed_at', level: 'warning', without: 'q failed and q forget read the whole table' },
    ],
  };
  return [
    [table, jobs],
    [failedTable, failed],
  ];
}

function findingsOf(db: SqliteDatabase, table: string, template: TableTemplate): Finding[] {
  const [schema, name] = [`"${schemaName(table)}"`, bareTableName(table)];
  const columns = rowsOf(db, `PRAGMA ${schema}.table_info("${name}")`);
  if (columns.length === 0) return tableFindings(table, template, null);
  const indexes = rowsOf(db, `PRAGMA ${schema}.index_list("${name}")`)
    .filter(({ partial }) => Number(partial) === 0)
    .map((index) => ({
      ...{ name: String(index.name), isUnique: Number(index.unique) === 1 },
      parts: rowsOf(db, `PRAGMA ${schema}.index_xinfo("${index.name}")`).filter(({ key }) => Number(key) === 1),
    }));
  const rowid = columns.filter(({ type, pk }) => Number(pk) === 1 && String(type).toUpperCase() === 'INTEGER');
  const found: FoundTable = {
    columns: columns.map(({ name, type, notnull, dflt_value, pk }) => ({
      ...{ name: String(name), type: affinityOf(String(type)) },
      ...{ isNullable: Number(notnull) === 0, hasDefault: dflt_value !== null || Number(pk) > 0 },
    })),
    indexes: [
      ...indexes.map(({ name, isUnique, parts }) => ({ name, isUnique, columns: parts.map(nameOf).join(', ') })),
      ...rowid.map((column) => ({ name: '', isUnique: true, columns: nameOf(column) })),
    ],
  };
  // SQLite tells the collation of a column by its indexes alone; what is in none is compared with nothing.
  const folded = indexes.flatMap(({ parts }) => parts).filter(({ coll }) => String(coll).toUpperCase() !== 'BINARY');
  return [
    ...tableFindings(table, template, found),
    ...[...new Set(folded.map(nameOf))].map(
      (column): Finding => ({
        level: 'error',
        code: 'collation',
        message: `The collation of ${table}.${column} takes different texts for the same`,
        advice: 'Leave out its COLLATE: queues and unique keys are compared byte for byte',
      }),
    ),
  ];
}

type Row = Readonly<Record<string, unknown>>;

function rowsOf(db: SqliteDatabase, sql: string): Row[] {
  // The cast: better-sqlite3 gives rows as objects.
  return db.prepare(sql).all() as Row[];
}

function nameOf({ name }: Row): string {
  return String(name);
}

/** What SQLite makes of the name of a type. */
function affinityOf(type: string): string {
  if (/int/i.test(type)) return 'INTEGER';
  return /char|clob|text/i.test(type) ? 'TEXT' : type;
}
