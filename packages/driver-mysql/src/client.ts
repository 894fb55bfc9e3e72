import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';

/**
 * A pool of mysql2, of either flavour: what `createPool` of `mysql2` or of `mysql2/promise` gives. Structural, so that an
 * application with another copy of the client, or of its types, passes its own.
 */
export interface MysqlPool {
  getConnection(...args: never[]): unknown;
  query(...args: never[]): unknown;
}

/** A connection of mysql2, of either flavour, on which the application has a transaction open. A pool is not one. */
export interface MysqlConnection {
  query(...args: never[]): unknown;
  beginTransaction(...args: never[]): unknown;
  commit(...args: never[]): unknown;
  rollback(...args: never[]): unknown;
  /** A pool has it, and hands each statement to another connection. */
  readonly getConnection?: never;
}

/** A transaction of a library that keeps its connection to itself, as an adapter makes it of the library's own calls. */
export interface MysqlStatements {
  /**
   * Sends one statement in the transaction. Rows: each an object of texts and nulls; without rows: what mysql2 gives for
   * such an answer (`affectedRows`, `insertId`, `serverStatus`). Rejects with an error that has the server's `errno`.
   */
  sendStatement(sql: string): Promise<unknown>;
}

/** What an application has its transaction on. */
export type MysqlTransaction = MysqlConnection | MysqlStatements;

/** Whatever takes a statement, with promises. */
export interface Queryable {
  query(options: QueryOptions): Promise<readonly [answer: unknown, ...rest: unknown[]]>;
}

/** A connection of the pool, while it is ours. */
export interface PooledClient extends Queryable {
  release(): void;
  destroy(): void;
}

export interface Pool {
  getConnection(): Promise<PooledClient>;
}

/** What of a query's answer can be said for it alone, whatever the pool was made with. */
export interface QueryOptions {
  readonly sql: string;
  readonly rowsAsArray: boolean;
  readonly namedPlaceholders: boolean;
  readonly nestTables: boolean;
  readonly typeCast: (field: { string(encoding: string): string | null }) => unknown;
}

/** The pool a driver is built on, with promises. Throws `invalid_option`. */
export function checkPool(value: unknown): Pool {
  const pool = asRecord(value);
  if (typeof pool?.getConnection === 'function' && typeof pool.query === 'function') {
    const promising = withPromises(pool);
    // The cast: what has these methods, in this flavour, is a pool of mysql2/promise.
    if (promising !== null) return promising as unknown as Pool;
  }
  throw new QueueError('invalid_option', `MysqlDriver needs a pool of mysql2; got ${kindOf(value)}`);
}

/** What an application has its transaction on, with promises. Throws `invalid_transaction`, for a pool above all. */
export function checkConnection(value: unknown): Queryable {
  const candidate = asRecord(value);
  if (typeof candidate?.getConnection === 'function') {
    throw new QueueError(
      'invalid_transaction',
      'within takes the connection that has the transaction open; a pool gives each statement to another one. ' +
        'Use the connection that pool.getConnection() resolved to',
    );
  }
  if (isStatements(candidate)) return { query: async ({ sql }) => [await candidate.sendStatement(sql)] };
  const isConnection = CONNECTION_METHODS.every((name) => typeof candidate?.[name] === 'function');
  const promising = isConnection && candidate !== null ? withPromises(candidate) : null;
  // The cast: what has these methods, in this flavour, is a connection of mysql2/promise.
  if (promising !== null) return promising as unknown as Queryable;
  throw new QueueError('invalid_transaction', `within takes a connection of mysql2; got ${kindOf(value)}`);
}

/** What a connection from the pool is, however often it is wrapped anew: to remember something of it by. */
export function identityOf(client: PooledClient): object {
  const inner = asRecord(client)?.connection;
  return typeof inner === 'object' && inner !== null ? inner : client;
}

/**
 * Ends a connection at once. mysql2's own `destroy` says goodbye and waits for the server's: from one that does not answer
 * any more it would wait for ever, and keep the process alive.
 */
export function destroy(client: PooledClient): void {
  client.destroy();
  const stream = asRecord(asRecord(identityOf(client))?.stream);
  if (typeof stream?.destroy === 'function') stream.destroy();
}

const CONNECTION_METHODS = ['query', 'beginTransaction', 'commit', 'rollback'] as const;

/** The flavour with promises has the class of its promises; the one with callbacks has a method that gives the other. */
function withPromises(client: Readonly<Record<string, unknown>>): object | null {
  if (typeof client.promise === 'function') return client.promise() as object;
  return typeof client.Promise === 'function' ? client : null;
}

function isStatements(value: object | null): value is MysqlStatements {
  return typeof asRecord(value)?.sendStatement === 'function';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  // The cast: any object may be asked for any property.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
}
