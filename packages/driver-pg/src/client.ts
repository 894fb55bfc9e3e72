import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';

/**
 * What the driver calls on the application's `pg` objects. Structural, so that an application with another copy of the
 * client, or of its types, passes its own.
 */
export interface PgPool {
  /** A pool of another make may ignore the callback and resolve to the client. */
  connect(callback: (error: Error | null | undefined, client: PgPoolClient | undefined) => void): unknown;
  readonly totalCount: number;
  readonly idleCount: number;
  /** How the pool opens its clients. */
  readonly options: object;
}

/** Whatever takes a statement. */
export interface Queryable {
  query(config: PgQuery): Promise<PgResult>;
}

/** A `Client` or `PoolClient` on which the application has a transaction open. A `Pool` is not one. */
export interface PgTransaction extends Queryable {
  escapeIdentifier(text: string): string;
  /** A pool has it, and hands each statement to another connection. */
  readonly totalCount?: never;
}

export interface PgPoolClient extends PgTransaction {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}

/** A connection of the driver's own. */
export interface PgClient extends PgTransaction {
  connect(): Promise<unknown>;
  end(): Promise<unknown>;
  on(event: string, listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  /** What the server announced; null before it has. */
  readonly processID: number | null;
}

export interface PgQuery {
  text: string;
  values: (string | null | (string | null)[])[];
  types: { getTypeParser: () => (value: unknown) => string };
}

export interface PgResult {
  readonly rows: unknown[];
  readonly rowCount: number | null;
}

export type PgClientClass = new (config: object | string) => PgClient;

/** The pool a driver is built on. Throws `invalid_option`. */
export function checkPool(value: unknown): PgPool {
  if (isPool(value)) return value;
  throw new QueueError('invalid_option', `PgDriver needs a Pool of pg; got ${kindOf(value)}`);
}

/** What an application has its transaction on. Throws `invalid_transaction`, for a pool above all. */
export function checkTransaction(value: unknown): PgTransaction {
  if (isPool(value)) {
    throw new QueueError(
      'invalid_transaction',
      'within takes the client that has the transaction open; a Pool gives each statement to another one. ' +
        'Use the client that pool.connect() resolved to',
    );
  }
  const candidate = asRecord(value);
  if (typeof candidate?.query !== 'function' || typeof candidate.escapeIdentifier !== 'function') {
    throw new QueueError('invalid_transaction', `within takes a Client or PoolClient of pg; got ${kindOf(value)}`);
  }
  // The cast: these methods are a client's.
  const client = value as PgTransaction;
  if (isIdle(candidate)) {
    throw new QueueError(
      'invalid_transaction',
      'No transaction is open on the client given to within. Outside of one, call the same method of the queue itself',
    );
  }
  return client;
}

/** Whether a transaction is open on a client, as far as can be told. */
export function mayBeInTransaction(client: PgTransaction): boolean {
  const candidate = asRecord(client);
  return candidate !== null && !isIdle(candidate);
}

/** The class of the pool's clients, so that a connection of the driver's own is opened by the application's copy of pg. */
export function clientClassOf(pool: PgPool): PgClientClass | null {
  const Client: unknown = asRecord(pool)?.Client;
  // The cast: what pg.Pool calls its Client is one.
  return typeof Client === 'function' ? (Client as PgClientClass) : null;
}

/** How many listen for the errors of the pool's idle connections; null where that cannot be told. */
export function errorListenersOf(pool: PgPool): number | null {
  const listenerCount: unknown = asRecord(pool)?.listenerCount;
  return typeof listenerCount === 'function' ? Number(listenerCount.call(pool, 'error')) : null;
}

function isPool(value: unknown): value is PgPool {
  const candidate = asRecord(value);
  return typeof candidate?.connect === 'function' && typeof candidate.totalCount === 'number';
}

/**
 * Whether no transaction is open, for certain: newer versions of pg know, but not of a BEGIN that is still on its way, so
 * a client in the middle of something is given the benefit of the doubt.
 */
function isIdle(client: Readonly<Record<string, unknown>>): boolean {
  if (client.readyForQuery !== true || typeof client.getTransactionStatus !== 'function') return false;
  return client.getTransactionStatus() === 'I';
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  // The cast: any object may be asked for any property.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
}
