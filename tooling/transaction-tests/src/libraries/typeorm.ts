import { fromTypeOrm as fromTypeOrmOnMysql } from '@q/driver-mysql/typeorm';
import { fromTypeOrm as fromTypeOrmOnPg } from '@q/driver-pg/typeorm';
import { fromTypeOrm as fromTypeOrmOnSqlite } from '@q/driver-sqlite/typeorm';
import { DataSource, type DataSourceOptions, type EntityManager, EntitySchema } from 'typeorm';
import type { Application, Inside } from '../application.js';

const Note = new EntitySchema<{ id: number; text: string }>({
  name: 'note',
  tableName: 'notes',
  columns: { id: { type: Number, primary: true, generated: true }, text: { type: String } },
});

type FromTypeOrm<Tx> = (manager: EntityManager) => Promise<Tx>;

export const onPostgres = (url: string) => open({ type: 'postgres', url }, fromTypeOrmOnPg);
export const onMysql = (url: string) => open({ type: 'mysql', url }, fromTypeOrmOnMysql);
export const onSqlite = (database: string) => open({ type: 'better-sqlite3', database }, fromTypeOrmOnSqlite);

async function open<Tx>(options: DataSourceOptions, fromTypeOrm: FromTypeOrm<Tx>): Promise<Application<Tx>> {
  const dataSource = await new DataSource({ ...options, entities: [Note] } as DataSourceOptions).initialize();
  const insideOf = (manager: EntityManager): Inside<Tx> => ({
    note: (text) => manager.insert(Note, { text }),
    tx: () => fromTypeOrm(manager),
    nested: (work) => manager.transaction((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => dataSource.transaction((manager) => work(insideOf(manager))),
    async rolledBack(work) {
      const queryRunner = dataSource.createQueryRunner();
      await queryRunner.startTransaction();
      await work(insideOf(queryRunner.manager));
      await queryRunner.rollbackTransaction();
      await queryRunner.release();
    },
    mistaken: () => fromTypeOrm(dataSource.manager),
    [Symbol.asyncDispose]: () => dataSource.destroy(),
  };
}
