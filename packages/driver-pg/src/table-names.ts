import { createHash, randomBytes } from 'node:crypto';

// Postgres refuses a longer name of a channel, which in a caller's transaction would cost the transaction.
const MAX_CHANNEL_BYTES = 63;

/** `"app"."queue_jobs"`: quoted, because a plain name may be a keyword of SQL. Without a schema it is the search_path's. */
export function quotedTable(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}

/** The channel on which pushes are announced: the table's name as it was given, or where that is too long a digest of it. */
export function channelOf(table: string): string {
  if (table.length <= MAX_CHANNEL_BYTES) return table;
  return `queue_${createHash('sha256').update(table).digest('hex').slice(0, 40)}`;
}

/** Names nobody has, in the schema of the table. */
export function scratchNames(table: string): { readonly table: string; readonly failedTable: string } {
  const schema = table.slice(0, table.indexOf('.') + 1);
  const name = `${schema}queue_scratch_${randomBytes(6).toString('hex')}`;
  return { table: name, failedTable: `${name}_failed` };
}
