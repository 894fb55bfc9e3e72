import { notATransaction } from '@q/core/driver-kit';
import type { MysqlTransaction } from '../client.js';
import { fromKnex, type KnexTransaction } from './knex.js';

/** An EntityManager of MikroORM 6, whose transactions are those of Knex. */
export interface MikroOrmEntityManager {
  getTransactionContext(): object | undefined;
}

/** Resolves to the connection that the em's transaction runs on. Rejects with `invalid_transaction` where it has none open. */
export async function fromMikroOrm(em: MikroOrmEntityManager): Promise<MysqlTransaction> {
  const context = typeof em?.getTransactionContext === 'function' ? em.getTransactionContext() : undefined;
  if (context === undefined) {
    throw notATransaction('fromMikroOrm', 'the em that em.transactional gives its callback', em);
  }
  // The cast: the context of an SQL driver is a transaction of Knex, which checks it.
  return fromKnex(context as KnexTransaction);
}
