import type { Finding } from '@q/core';
import {
  bareTableName,
  clockFinding,
  type FoundTable,
  grantFinding,
  type TableTemplate,
  tableFindings,
} from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import type { Session } from './session.js';
import { quotedTable } from './table-names.js';
import type { Wakeups } from './wakeups.js';

interface Names {
  readonly table: string;
  readonly failedTable: string;
}

interface Diagnosed {
  readonly connection: Connection;
  readonly wakeups: Wakeups;
  /** Whether a push is announced, outside of transactions at least. */
  readonly notifies: boolean;
  readonly names: Names;
}

/** What the server, its settings and the tables are like, for `q doctor`. Rejects where the server cannot be asked. */
export async function diagnose({ connection, wakeups, notifies, names }: Diagnosed): Promise<Finding[]> {
  const ofServer = await connection.run(async (session, before) => {
    const [server] = await session.look<Server>(SERVER);
    if (server === undefined) throw new Error('Postgres did not say what it is');
    const found = serverFindings(server);
    const now = { before, after: connection.now() };
    found.push(clockFinding(now, new Date(Number(server.epoch_ms))));
    if (Number(server.version_number) < OLDEST) return found;
    for (const [table, template] of templates(names)) found.push(...(await findingsOf(session, table, template)));
    return found;
  });
  return [...ofServer, await wakeupFinding(wakeups, notifies)];
}

interface Server {
  readonly version: string;
  readonly version_number: string;
  readonly isolation: string;
  readonly read_only: string;
  readonly standby: string;
  readonly epoch_ms: string;
}

const SERVER = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS version_number,
    current_setting('default_transaction_isolation') AS isolation, current_setting('transaction_read_only') AS read_only,
    pg_is_in_recovery()::text AS standby, (extract(epoch FROM clock_timestamp()) * 1000)::text AS epoch_ms`;

/** Postgres 12, as `server_version_num` says it. */
const OLDEST = 120_000;

function serverFindings({ version, version_number, isolation, read_only, standby }: Server): Finding[] {
  return [
    Number(version_number) >= OLDEST
      ? {
          level: 'ok',
          code: 'server_version',
          message: `Postgres ${version}: workers step past each other (SKIP LOCKED)`,
        }
      : {
          level: 'error',
          code: 'server_version',
          message: `Postgres ${version} is older than 12`,
          advice: 'Upgrade it: the statements of the queue need Postgres 12 or later',
        },
    read_only === 'off' && standby === 'false'
      ? { level: 'ok', code: 'read_only', message: 'The server takes writes' }
      : {
          level: 'error',
          code: 'read_only',
          message: `The server takes no writes: ${standby === 'true' ? 'it is a standby' : 'transactions are read only'}`,
          advice: 'Connect to the primary, as a user whose default_transaction_read_only is off',
        },
    isolation === 'read committed'
      ? { level: 'ok', code: 'isolation', message: 'Transactions begin at read committed' }
      : {
          level: 'warning',
          code: 'isolation',
          message: `Transactions begin at ${isolation}, so a push within one can be refused with 40001`,
          advice:
            "Be ready to run such a transaction again. The queue's own begin at read committed, whatever the default",
        },
  ];
}

/** The template of schema.ts, as the catalog has it. */
function templates({ table, failedTable }: Names): [table: string, template: TableTemplate][] {
  const primary = { columns: 'id', isUnique: true, level: 'error', without: 'two jobs could have one id' } as const;
  const jobs: TableTemplate = {
    columns: {
      id: 'bigint',
      queue: 'character varying(64)',
      name: 'character varying(190)',
      payload: 'text',
      attempts: 'integer',
      max_attempts: 'integer',
      priority: 'integer',
      unique_key: 'character varying(190) null',
      available_at: 'timestamp with time zone',
      reserved_until: 'timestamp with time zone null',
      reserved_by: 'character varying(64) null',
      last_error: 'text',
      created_at: 'timestamp with time zone',
    },
    indexes: [
      primary,
      {
        columns: 'queue, priority, available_at, id',
        level: 'warning',
        without: 'every claim reads the whole table',
      },
      { columns: 'unique_key', isUnique: true, level: 'error', without: 'every push is refused' },
    ],
  };
  const failed: TableTemplate = {
    columns: {
      id: 'bigint',
      queue: 'character varying(64)',
      name: 'character varying(190)',
      payload: 'text',
      attempts: 'integer',
      error: 'text',
      failed_at: 'timestamp with time zone',
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

/** What will do in place of a type: text has no limit, and the driver keeps its own. */
const WIDER = {
  'character varying(64)': ['text', 'character varying'],
  'character varying(190)': ['text', 'character varying'],
  text: ['character varying'],
  integer: ['bigint'],
};

async function findingsOf(session: Session, table: string, template: TableTemplate): Promise<Finding[]> {
  const name = quotedTable(table);
  const columns = await session.look<Column>(COLUMNS, [name]);
  if (columns.length === 0) return tableFindings(table, template, null);
  const indexes = await session.look<Index>(INDEXES, [name]);
  const found: FoundTable = {
    columns: columns.map(({ name, type, is_nullable, has_default }) => ({
      ...{ name, type },
      ...{ isNullable: is_nullable === 'true', hasDefault: has_default === 'true' },
    })),
    indexes: indexes.map(({ name, columns, is_unique }) => ({ name, columns, isUnique: is_unique === 'true' })),
  };
  const [grants] = await session.look<{ readonly missing: string }>(GRANTS, [name]);
  return [
    ...tableFindings(table, template, found, WIDER),
    ...columns.filter(({ ignores_case }) => ignores_case === 'true').map((column) => collationFinding(table, column)),
    grantFinding(table, (grants?.missing ?? '').split(', ').filter(Boolean)),
  ];
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly is_nullable: string;
  readonly has_default: string;
  readonly ignores_case: string;
}

const COLUMNS = `
  SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type, (NOT attnotnull)::text AS is_nullable,
    (atthasdef OR attidentity <> '')::text AS has_default,
    coalesce((SELECT NOT collisdeterministic FROM pg_collation WHERE oid = attcollation), false)::text AS ignores_case
  FROM pg_attribute WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

interface Index {
  readonly name: string;
  readonly columns: string;
  readonly is_unique: string;
}

// Those that serve: an index that is partial, not valid or deferrable is none for a claim or for ON CONFLICT.
const INDEXES = `
  SELECT relname::text AS name, indisunique::text AS is_unique,
    coalesce((SELECT string_agg(attname, ', ' ORDER BY place)
      FROM unnest(indkey) WITH ORDINALITY AS part(number, place)
      JOIN pg_attribute ON attrelid = indrelid AND attnum = number WHERE place <= indnkeyatts), '') AS columns
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE indrelid = to_regclass($1::text) AND indisvalid AND indimmediate AND indpred IS NULL AND indexprs IS NULL`;

// A serial column draws from a sequence that has grants of its own; an identity column has its table's. CASE: the function
// is an error for what is no sequence, and conditions are evaluated in any order.
const GRANTS = `
  SELECT coalesce(string_agg(wanted, ', '), '') AS missing FROM (
    SELECT wanted FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted
    WHERE NOT has_table_privilege(to_regclass($1::text), wanted)
    UNION ALL
    SELECT 'USAGE of the sequence ' || relname FROM pg_depend JOIN pg_class ON pg_class.oid = objid
    WHERE refclassid = 'pg_class'::regclass AND refobjid = to_regclass($1::text) AND deptype = 'a'
      AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege(objid, 'USAGE') ELSE false END) AS grants`;

function collationFinding(table: string, { name }: Column): Finding {
  return {
    level: 'error',
    code: 'collation',
    message: `The collation of ${bareTableName(table)}.${name} takes different texts for the same`,
    advice: 'Give it a deterministic collation: queues, names and unique keys are compared byte for byte',
  };
}

async function wakeupFinding(wakeups: Wakeups, notifies: boolean): Promise<Finding> {
  const polling = { code: 'listen', disables: 'wakeups' } as const;
  if (!notifies) return { ...polling, level: 'ok', message: 'Workers poll (`notify` is false)' };
  const way = await wakeups.diagnose().catch(() => 'closed' as const);
  if (way === null) return { ...polling, level: 'ok', message: 'Workers poll (`listen` is false)' };
  if (way === 'direct') return { level: 'ok', code: 'listen', message: 'LISTEN works: workers hear of a push at once' };
  const advice = 'Give `listen` a direct connection to Postgres, or false if workers are to poll';
  return { ...polling, level: 'warning', message: `${WAYS[way]}, so workers find jobs by polling`, advice };
}

const WAYS = {
  pooler: 'There is a pooler between this process and Postgres, through which LISTEN does not work',
  unknown: 'The Pool does not say how it opens its clients',
  closed: 'The connection that would listen for pushes cannot be opened',
} as const;
