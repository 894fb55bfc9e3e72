import { notATransaction } from '@q/core/driver-kit';
import type { PgTransaction } from '../client.js';
import { checkBeneath } from './refusals.js';

/** What `sequelize.transaction` gives its callback, or resolves to; nested or not. The `sequelize` itself is not one. */
export interface SequelizeTransaction {
  commit(): Promise<void>;
  rollback(): Promise<void>;
  afterCommit(...args: never[]): unknown;
}

/** The client that the transaction runs on. Throws `invalid_transaction` for what is none, and for one that has ended. */
export function fromSequelize(transaction: SequelizeTransaction): PgTransaction {
  // The cast: Sequelize's types leave these out. `finished` is there once it was told to commit or to roll back.
  const { connection, finished } = (transaction ?? {}) as {
    readonly connection?: unknown;
    readonly finished?: unknown;
  };
  if (typeof transaction?.afterCommit !== 'function' || connection === undefined || finished !== undefined) {
    throw notATransaction(
      'fromSequelize',
      'the transaction that sequelize.transaction gives its callback',
      transaction,
    );
  }
  return checkBeneath('fromSequelize', connection);
}
