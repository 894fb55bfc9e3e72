import * as sqlite from '@mikro-orm/better-sqlite';
import { type EntityManager, EntitySchema } from '@mikro-orm/core';
import * as mysql from '@mikro-orm/mysql';
import * as postgresql from '@mikro-orm/postgresql';
import { fromMikroOrm as fromMikroOrmOnMysql } from '@q/driver-mysql/mikro-orm';
import { fromMikroOrm as fromMikroOrmOnPg } from '@q/driver-pg/mikro-orm';
import { fromMikroOrm as fromMikroOrmOnSqlite } from '@q/driver-sqlite/mikro-orm';
import type { Application, Inside } from '../application.js';

const Note = new EntitySchema<{ id: number; text: string }>({
  name: 'Note',
  tableName: 'notes',
  properties: { id: { type: 'number', primary: true }, text: { type: 'string' } },
});
const entities = [Note];

interface Orm {
  readonly em: EntityManager;
  close(): Promise<void>;
}

export async function onPostgres(clientUrl: string) {
  return application(await postgresql.MikroORM.init({ clientUrl, entities }), fromMikroOrmOnPg);
}

export async function onMysql(clientUrl: string) {
  return application(await mysql.MikroORM.init({ clientUrl, entities }), fromMikroOrmOnMysql);
}

export async function onSqlite(dbName: string) {
  return application(await sqlite.MikroORM.init({ dbName, entities }), fromMikroOrmOnSqlite);
}

function application<Tx>(orm: Orm, fromMikroOrm: (em: EntityManager) => Promise<Tx>): Application<Tx> {
  const insideOf = (em: EntityManager): Inside<Tx> => ({
    async note(text) {
      em.persist(em.create(Note, { text }));
      await em.flush();
    },
    tx: () => fromMikroOrm(em),
    nested: (work) => em.transactional((inner) => work(insideOf(inner))),
  });
  return {
    transaction: (work) => orm.em.fork().transactional((em) => work(insideOf(em))),
    async rolledBack(work) {
      const em = orm.em.fork();
      await em.begin();
      await work(insideOf(em));
      await em.rollback();
    },
    mistaken: () => fromMikroOrm(orm.em.fork()),
    [Symbol.asyncDispose]: () => orm.close(),
  };
}
