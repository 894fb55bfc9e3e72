import { notATransaction } from '@q/core/driver-kit';
import type { SqliteDatabase } from '../database.js';
import { checkBeneath } from './refusals.js';

/** The EntityManager that `dataSource.transaction` gives its callback. `dataSource.manager` has no query runner. */
export interface TypeOrmManager {
  readonly queryRunner?: { readonly isTransactionActive: boolean; connect(): Promise<unknown> } | undefined;
}

/** Resolves to the Database that the manager's transaction runs on. Rejects with `invalid_transaction` where it has none. */
export async function fromTypeOrm(manager: TypeOrmManager): Promise<SqliteDatabase> {
  const queryRunner = manager?.queryRunner;
  if (queryRunner?.isTransactionActive !== true) {
    throw notATransaction('fromTypeOrm', 'the manager that dataSource.transaction gives its callback', manager);
  }
  return checkBeneath('fromTypeOrm', await queryRunner.connect());
}
