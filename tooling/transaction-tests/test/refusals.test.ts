import { isQueueError } from '@q/core';
import * as drizzleOnMysql from '@q/driver-mysql/drizzle';
import * as knexOnMysql from '@q/driver-mysql/knex';
import * as kyselyOnMysql from '@q/driver-mysql/kysely';
import * as mikroOrmOnMysql from '@q/driver-mysql/mikro-orm';
import * as prismaOnMysql from '@q/driver-mysql/prisma';
import * as sequelizeOnMysql from '@q/driver-mysql/sequelize';
import * as typeOrmOnMysql from '@q/driver-mysql/typeorm';
import * as drizzleOnPg from '@q/driver-pg/drizzle';
import * as knexOnPg from '@q/driver-pg/knex';
import * as kyselyOnPg from '@q/driver-pg/kysely';
import * as mikroOrmOnPg from '@q/driver-pg/mikro-orm';
import * as prismaOnPg from '@q/driver-pg/prisma';
import * as sequelizeOnPg from '@q/driver-pg/sequelize';
import * as typeOrmOnPg from '@q/driver-pg/typeorm';
import * as knexOnSqlite from '@q/driver-sqlite/knex';
import * as kyselyOnSqlite from '@q/driver-sqlite/kysely';
import * as mikroOrmOnSqlite from '@q/driver-sqlite/mikro-orm';
import * as typeOrmOnSqlite from '@q/driver-sqlite/typeorm';
import type {} from '@q/servers/vitest/postgres';
import knex from 'knex';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { describe, expect, inject, it } from 'vitest';

type Adapter = (given: unknown, beside?: unknown) => unknown;

const MODULES: Readonly<Record<string, readonly object[]>> = {
  '@q/driver-pg': [drizzleOnPg, knexOnPg, kyselyOnPg, mikroOrmOnPg, prismaOnPg, sequelizeOnPg, typeOrmOnPg],
  '@q/driver-mysql': [
    drizzleOnMysql,
    knexOnMysql,
    kyselyOnMysql,
    mikroOrmOnMysql,
    prismaOnMysql,
    sequelizeOnMysql,
    typeOrmOnMysql,
  ],
  '@q/driver-sqlite': [knexOnSqlite, kyselyOnSqlite, mikroOrmOnSqlite, typeOrmOnSqlite],
};

const adapters = Object.entries(MODULES).flatMap(([driver, modules]) =>
  modules.flatMap((module) => Object.entries(module).map(([name, adapt]) => [name, driver, adapt as Adapter] as const)),
);

const NO_TRANSACTIONS = [undefined, null, {}, [], 'tx', 7, () => {}, { isTransaction: false }, new Map()];

describe.each(adapters)('%s of %s', (name, _driver, adapt) => {
  it('refuses what is no transaction, and says what is', async () => {
    for (const given of NO_TRANSACTIONS) {
      const error = await refusalOf(() => adapt(given));
      expect(error).toSatisfy((error) => isQueueError(error, 'invalid_transaction'));
      expect(String(error)).toMatch(new RegExp(`^QueueError: ${name} takes the .+; got `));
    }
  });
});

describe('A transaction that has ended is refused', { timeout: 120_000 }, () => {
  it('of Knex', async () => {
    const db = knex({ client: 'pg', connection: inject('postgres') });
    const trx = await db.transaction();
    await trx.commit();
    expect(await refusalOf(() => knexOnPg.fromKnex(trx))).toMatchObject({ code: 'invalid_transaction' });
    await db.destroy();
  });

  it('of TypeORM', async () => {
    const dataSource = await new DataSource({ type: 'postgres', url: inject('postgres') }).initialize();
    const queryRunner = dataSource.createQueryRunner();
    await queryRunner.startTransaction();
    await queryRunner.commitTransaction();
    const { manager } = queryRunner;
    expect(await refusalOf(() => typeOrmOnPg.fromTypeOrm(manager))).toMatchObject({ code: 'invalid_transaction' });
    await queryRunner.release();
    await dataSource.destroy();
  });

  it('of Sequelize', async () => {
    const sequelize = new Sequelize(inject('postgres'), { logging: false });
    const transaction = await sequelize.transaction();
    await transaction.rollback();
    const refusal = await refusalOf(() => sequelizeOnPg.fromSequelize(transaction));
    expect(refusal).toMatchObject({ code: 'invalid_transaction' });
    await sequelize.close();
  });
});

it('A transaction on another store says what is beneath', async () => {
  const db = knex({ client: 'better-sqlite3', connection: { filename: ':memory:' }, useNullAsDefault: true });
  await db.transaction(async (trx) => {
    for (const { fromKnex } of [knexOnPg, knexOnMysql]) {
      expect(await refusalOf(() => fromKnex(trx))).toMatchObject({
        code: 'invalid_transaction',
        message: expect.stringMatching(
          /^fromKnex of @q\/driver-\w+ takes a transaction on a .+; beneath the one given is an object$/,
        ),
      });
    }
  });
  await db.destroy();
});

async function refusalOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused');
}
