import { notATransaction } from '@q/core/driver-kit';
import type { PgTransaction } from '../client.js';
import { statementClient } from './statement-client.js';

/** What `prisma.$transaction` gives its callback. The client itself can connect, and is not one. */
export interface PrismaTransaction {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(query: string, ...values: unknown[]): PromiseLike<number>;
  readonly $connect?: never;
}

// Of the driver's own statements: whether one gives rows.
const GIVES_ROWS = /^\s*(SELECT|WITH)\b|\bRETURNING\b/;

/** The transaction as a client. Throws `invalid_transaction`, for the client itself above all. */
export function fromPrisma(tx: PrismaTransaction): PgTransaction {
  if (typeof tx?.$queryRawUnsafe !== 'function' || tx.$connect !== undefined) {
    throw notATransaction('fromPrisma', 'the tx that prisma.$transaction gives its callback, not the client', tx);
  }
  return statementClient(async (text, values) => {
    if (!GIVES_ROWS.test(text)) return { rows: [], rowCount: await tx.$executeRawUnsafe(text, ...values) };
    // The cast: a statement that gives rows is answered by a list.
    const rows = (await tx.$queryRawUnsafe(text, ...values)) as unknown[];
    return { rows, rowCount: rows.length };
  });
}
