import type { Finding } from '@q/core';
import {
  bareTableName,
  clockFinding,
  type FoundColumn,
  grantFinding,
  type TableTemplate,
  tableFindings,
} from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import { isDenied } from './errors.js';
import { canSkipLocked } from './server-version.js';
import type { Session } from './session.js';
import { quotedTable } from './table-names.js';

interface Names {
  readonly table: string;
  readonly failedTable: string;
}

/** What the server, its settings and the tables are like, for `q doctor`. Rejects where the server cannot be asked. */
export async function diagnose(connection: Connection, names: Names): Promise<Finding[]> {
  return connection.read(async (session, before) => {
    const [clock] = await session.look<{ readonly epoch: string }>(CLOCK);
    const now = { before, after: connection.now() };
    const settings = await settingsOf(session);
    const findings = [
      versionFinding(settings.get('version') ?? ''),
      binlogFinding(settings),
      readOnlyFinding(settings),
      isolationFinding(settings),
      clockFinding(now, new Date(Number(clock?.epoch) / 1000)),
    ];
    for (const [table, template] of templates(names)) findings.push(...(await findingsOf(session, table, template)));
    return findings;
  });
}

/** In microseconds, and without the zone of the session. */
const CLOCK = `
  SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) AS epoch`;

const SETTINGS = [
  'version',
  'log_bin',
  'binlog_format',
  'read_only',
  'super_read_only',
  'innodb_read_only',
  'transaction_isolation',
  'tx_isolation',
] as const;

type Settings = ReadonlyMap<string, string>;

/** One by one: sql_select_limit would cut a SHOW of them all. What a server does not know is not there. */
async function settingsOf(session: Session): Promise<Settings> {
  const settings = new Map<string, string>();
  for (const name of SETTINGS) {
    const show = 'SHOW VARIABLES WHERE Variable_name = :name';
    const [row] = await session.look<{ readonly Value: string }>(show, { name });
    if (row !== undefined) settings.set(name, row.Value);
  }
  return settings;
}

function versionFinding(version: string): Finding {
  const isMariaDb = /mariadb/i.test(version);
  const server = `${isMariaDb ? 'MariaDB' : 'MySQL'} ${version}`;
  const [major = 0, minor = 0] = version
    .replace(/^5\.5\.5-/, '')
    .split('.')
    .map(Number);
  const [oldestMajor, oldestMinor] = isMariaDb ? [10, 3] : [5, 7];
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    return {
      level: 'error',
      code: 'server_version',
      message: `${server} is older than ${oldestMajor}.${oldestMinor}`,
      advice: 'Upgrade it: the driver is for MySQL 5.7 or later and MariaDB 10.3 or later',
    };
  }
  if (canSkipLocked(version)) {
    return { level: 'ok', code: 'server_version', message: `${server}: workers step past each other (SKIP LOCKED)` };
  }
  return {
    level: 'warning',
    code: 'server_version',
    message: `${server} has no SKIP LOCKED, so workers that reach for the same job race for it`,
    advice: 'Run few workers, or upgrade to MySQL 8.0 or MariaDB 10.6',
  };
}

function binlogFinding(settings: Settings): Finding {
  const format = settings.get('binlog_format') ?? 'ROW';
  if (!isOn(settings, 'log_bin')) return { level: 'ok', code: 'binlog_format', message: 'There is no binary log' };
  if (format !== 'STATEMENT')
    return { level: 'ok', code: 'binlog_format', message: `The binary log has the format ${format}` };
  return {
    level: 'error',
    code: 'binlog_format',
    message: 'The binary log has the format STATEMENT, for which the server refuses every claim (error 1665)',
    advice: 'Set binlog_format to ROW or MIXED',
  };
}

function readOnlyFinding(settings: Settings): Finding {
  const on = ['read_only', 'super_read_only', 'innodb_read_only'].filter((name) => isOn(settings, name));
  if (on.length === 0) return { level: 'ok', code: 'read_only', message: 'The server takes writes' };
  return {
    level: 'error',
    code: 'read_only',
    message: `The server takes no writes: ${on.join(', ')}`,
    advice: 'Connect to the primary',
  };
}

function isolationFinding(settings: Settings): Finding {
  const isolation = settings.get('transaction_isolation') ?? settings.get('tx_isolation') ?? '';
  if (isolation !== 'SERIALIZABLE')
    return { level: 'ok', code: 'isolation', message: `Transactions begin at ${isolation}` };
  return {
    level: 'warning',
    code: 'isolation',
    message: 'Transactions begin at SERIALIZABLE, so those that read the tables of the queue block its workers',
    advice: "Begin them at a lower level. The queue's own begin at READ COMMITTED, whatever the default",
  };
}

function isOn(settings: Settings, name: string): boolean {
  return !['OFF', '0', ''].includes(settings.get(name) ?? '');
}

/** The template of schema.ts, as the server has it; integers without the width that older servers tell. */
function templates({ table, failedTable }: Names): [table: string, template: TableTemplate][] {
  const primary = { columns: 'id', isUnique: true, level: 'error', without: 'two jobs could have one id' } as const;
  const jobs: TableTemplate = {
    columns: {
      id: 'bigint unsigned',
      queue: 'varchar(64)',
      name: 'varchar(190)',
      payload: 'text',
      attempts: 'int',
      max_attempts: 'int',
      priority: 'int',
      unique_key: 'varchar(190) null',
      available_at: 'datetime',
      reserved_until: 'datetime null',
      reserved_by: 'varchar(64) null',
      last_error: 'text',
      created_at: 'datetime',
    },
    indexes: [
      primary,
      {
        columns: 'queue, priority, available_at, id',
        name: `idx_${bareTableName(table)}_reserve`,
        level: 'error',
        without: 'every claim names it, and is refused',
      },
      { columns: 'unique_key', isUnique: true, level: 'error', without: 'a unique key is held by nobody' },
    ],
  };
  const failed: TableTemplate = {
    columns: {
      id: 'bigint unsigned',
      queue: 'varchar(64)',
      name: 'varchar(190)',
      payload: 'text',
      attempts: 'int',
      error: 'text',
      failed_at: 'datetime',
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

/** What will do in place of a type. */
const WIDER = {
  text: ['mediumtext', 'longtext'],
  int: ['bigint', 'int unsigned', 'bigint unsigned'],
  'bigint unsigned': ['bigint'],
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: string;
  readonly initial: string | null;
  readonly extra: string;
  readonly collation: string | null;
}

interface Index {
  readonly name: string;
  readonly columns: string;
  readonly repeats: string;
}

async function findingsOf(session: Session, table: string, template: TableTemplate): Promise<Finding[]> {
  const where = `table_name = :table AND table_schema = ${table.includes('.') ? ':database' : 'DATABASE()'}`;
  const parameters = { table: bareTableName(table), database: table.split('.')[0] ?? '' };
  const columns = await session.look<Column>(
    `SELECT column_name AS name, column_type AS type, is_nullable AS nullable, column_default AS initial, extra AS extra,
      collation_name AS collation FROM information_schema.columns WHERE ${where} ORDER BY ordinal_position LIMIT 1000`,
    parameters,
  );
  if (columns.length === 0) return tableFindings(table, template, null);
  // Those that serve: one on the beginning of a text tells no two keys apart that begin alike.
  const indexes = await session.look<Index>(
    `SELECT index_name AS name, MAX(non_unique) AS repeats,
      GROUP_CONCAT(column_name ORDER BY seq_in_index SEPARATOR ', ') AS columns
    FROM information_schema.statistics WHERE ${where} GROUP BY index_name HAVING COUNT(sub_part) = 0 LIMIT 1000`,
    parameters,
  );
  const [engine] = await session.look<{ readonly name: string | null }>(
    `SELECT engine AS name FROM information_schema.tables WHERE ${where}`,
    parameters,
  );
  const found = {
    columns: columns.map(foundColumn),
    indexes: indexes.map(({ name, columns, repeats }) => ({ name, columns, isUnique: repeats === '0' })),
  };
  return [
    ...tableFindings(table, template, found, WIDER),
    ...columns.flatMap((column) => collationFindings(table, column)),
    ...engineFindings(table, engine?.name ?? ''),
    grantFinding(table, await missingGrants(session, quotedTable(table))),
  ];
}

function foundColumn({ name, type, nullable, initial, extra }: Column): FoundColumn {
  return {
    name,
    type: /int/.test(type) ? type.replace(/\(\d+\)/, '') : type,
    isNullable: nullable === 'YES',
    hasDefault: initial !== null || /auto_increment|generated/i.test(extra),
  };
}

const COMPARED = ['queue', 'name', 'unique_key'];
const BYTE_FOR_BYTE = ['utf8mb4_bin', 'utf8mb4_0900_bin'];
const TEXTS = [...COMPARED, 'payload', 'error', 'last_error', 'reserved_by'];

function collationFindings(table: string, { name, collation }: Column): Finding[] {
  if (collation === null || !TEXTS.includes(name)) return [];
  const wrong = { level: 'error', code: 'collation' } as const;
  if (!collation.startsWith('utf8mb4_')) {
    const message = `${table}.${name} has the collation ${collation}, which cannot hold every text`;
    return [{ ...wrong, message, advice: 'Convert it to utf8mb4_bin' }];
  }
  if (!COMPARED.includes(name) || BYTE_FOR_BYTE.includes(collation)) return [];
  const message = `${table}.${name} has the collation ${collation}, by which texts that differ may be the same`;
  return [{ ...wrong, message, advice: 'Convert it to utf8mb4_bin: a and A are two queues, names and keys' }];
}

function engineFindings(table: string, engine: string): Finding[] {
  if (engine.toLowerCase() === 'innodb') return [];
  const message = `${table} is of the engine ${engine}, which has no transactions`;
  return [{ level: 'error', code: 'engine', message, advice: `ALTER TABLE ${table} ENGINE=InnoDB` }];
}

/** EXPLAIN wants the grants of what it explains, and does nothing. */
async function missingGrants(session: Session, table: string): Promise<string[]> {
  const statements = {
    SELECT: `SELECT * FROM ${table} WHERE FALSE`,
    INSERT: `INSERT INTO ${table} SELECT * FROM ${table} WHERE FALSE`,
    UPDATE: `UPDATE ${table} SET attempts = attempts WHERE FALSE`,
    DELETE: `DELETE FROM ${table} WHERE FALSE`,
  };
  const missing: string[] = [];
  for (const [grant, statement] of Object.entries(statements)) {
    try {
      await session.look(`EXPLAIN ${statement}`);
    } catch (error) {
      // Any other error is about a table that is not as it should be, which has been told.
      if (isDenied(error)) missing.push(grant);
    }
  }
  return missing;
}
