import { notATransaction } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';
import { statementsThrough } from './statements.js';

/** What `prisma.$transaction` gives its callback. The client itself can connect, and is not one. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(query: string, ...values: unknown[]): PromiseLike<number>;
  readonly $connect?: never;
}

// Of the driver's own statements: what one is.
const GIVES_ROWS = /^\s*SELECT\b/;
const GIVES_ID = /^\s*INSERT\b/;

/** The transaction, for `within` and `complete`. Throws `invalid_transaction`, for the client itself above all. */
export function fromPrisma(tx: PrismaTransaction): MysqlTransaction {
  if (typeof tx?.$queryRawUnsafe !== 'function' || tx.$connect !== undefined) {
    throw notATransaction('fromPrisma', 'the tx that prisma.$transaction gives its callback, not the client', tx);
  }
  const rowsOf = async (sql: string) => {
    // The cast: a SELECT is answered by a list.
    return (await tx.$queryRawUnsafe(sql)) as readonly unknown[];
  };
  return statementsThrough(async (sql) => {
    try {
      if (GIVES_ROWS.test(sql)) return { rows: await rowsOf(sql) };
      const rows = await tx.$executeRawUnsafe(sql);
      if (!GIVES_ID.test(sql)) return { rows: [], changed: { rows, firstId: 0n } };
      // Prisma does not tell the id that an INSERT was given; the connection remembers it.
      const [given] = (await rowsOf('SELECT LAST_INSERT_ID() AS id')) as readonly { readonly id: bigint }[];
      return { rows: [], changed: { rows, firstId: BigInt(given?.id ?? 0) } };
    } catch (error) {
      throw withServersNumber(error);
    }
  });
}

/** Prisma's error as it is, and on it, as the client's own has it, the number that the server sent. */
function withServersNumber(error: unknown): unknown {
  // The cast: any object may be asked for any property.
  const { meta } = (error ?? {}) as {
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } } };
  };
  const errno = Number(meta?.driverAdapterError?.cause?.originalCode);
  if (Number.isInteger(errno)) Object.defineProperty(error, 'errno', { value: errno, configurable: true });
  return error;
}
