import type { MysqlTransaction } from '@q/driver-mysql';
import type { PgTransaction } from '@q/driver-pg';
import type { SqliteDatabase } from '@q/driver-sqlite';
import type { Application } from './application.js';
import * as drizzle from './libraries/drizzle.js';
import * as drizzleSqlite from './libraries/drizzle-sqlite.js';
import * as knex from './libraries/knex.js';
import * as kysely from './libraries/kysely.js';
import * as mikroOrm from './libraries/mikro-orm.js';
import * as prisma from './libraries/prisma.js';
import * as sequelize from './libraries/sequelize.js';
import * as typeorm from './libraries/typeorm.js';
import { SCENARIOS, type Scenario } from './scenarios.js';
import type { Store } from './stores.js';

export const STORES = ['Postgres', 'MariaDB', 'SQLite'] as const;
export type StoreName = (typeof STORES)[number];

/** One library on one store, opened: each scenario, or why there is none. */
export interface Row extends AsyncDisposable {
  readonly scenarios: Readonly<Record<Scenario, (() => Promise<void>) | Why>>;
  /** What has to be said of how one is done. */
  readonly remarks?: Readonly<Partial<Record<Scenario, string>>>;
}

/** The reason of a cell that is empty. */
interface Why {
  readonly why: string;
}

interface OpenStores {
  readonly Postgres: Store<PgTransaction>;
  readonly MariaDB: Store<MysqlTransaction>;
  readonly SQLite: Store<SqliteDatabase>;
}

/** How a row is opened, or why there is none. */
type Opening = ((stores: OpenStores) => Promise<Row>) | Why;

const ONLY_THROWS = { why: 'Prisma has no call that rolls back: a transaction is rolled back by throwing' };

export const LIBRARIES: Readonly<Record<string, Readonly<Record<StoreName, Opening>>>> = {
  Drizzle: {
    Postgres: async ({ Postgres }) => row(Postgres, await drizzle.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await drizzle.onMysql(MariaDB.place)),
    SQLite: async ({ SQLite }) => synchronousRow(SQLite, await drizzleSqlite.onSqlite(SQLite.place)),
  },
  Kysely: {
    Postgres: async ({ Postgres }) => row(Postgres, await kysely.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await kysely.onMysql(MariaDB.place)),
    SQLite: async ({ SQLite }) => row(SQLite, await kysely.onSqlite(SQLite.place)),
  },
  Knex: {
    Postgres: async ({ Postgres }) => row(Postgres, await knex.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await knex.onMysql(MariaDB.place)),
    SQLite: async ({ SQLite }) => row(SQLite, await knex.onSqlite(SQLite.place)),
  },
  Prisma: {
    Postgres: async ({ Postgres }) => row(Postgres, await prisma.onPostgres(Postgres.place), ONLY_THROWS),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await prisma.onMysql(MariaDB.place), ONLY_THROWS),
    SQLite: {
      why:
        'Prisma’s adapter opens a better-sqlite3 connection of its own, keeps it to itself, and offers asynchronous calls ' +
        'alone. The driver works on a connection, synchronously',
    },
  },
  TypeORM: {
    Postgres: async ({ Postgres }) => row(Postgres, await typeorm.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await typeorm.onMysql(MariaDB.place)),
    SQLite: async ({ SQLite }) => row(SQLite, await typeorm.onSqlite(SQLite.place)),
  },
  MikroORM: {
    Postgres: async ({ Postgres }) => row(Postgres, await mikroOrm.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await mikroOrm.onMysql(MariaDB.place)),
    SQLite: async ({ SQLite }) => row(SQLite, await mikroOrm.onSqlite(SQLite.place)),
  },
  Sequelize: {
    Postgres: async ({ Postgres }) => row(Postgres, await sequelize.onPostgres(Postgres.place)),
    MariaDB: async ({ MariaDB }) => row(MariaDB, await sequelize.onMysql(MariaDB.place)),
    SQLite: {
      why: 'Sequelize 6 knows the client `sqlite3` alone, which is asynchronous; the driver is on better-sqlite3',
    },
  },
};

function row<Tx>(store: Store<Tx>, app: Application<Tx>, noRollback: Why | null = null): Row {
  const scenarios = mapScenarios((name) => {
    if (name === 'rollback' && noRollback !== null) return noRollback;
    return () => SCENARIOS[name]({ app, store });
  });
  return { scenarios, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

function synchronousRow(store: Store<SqliteDatabase>, app: drizzleSqlite.DrizzleOnSqlite): Row {
  const scenarios = mapScenarios((name) => () => app.scenarios[name](store));
  const byHand =
    'In a transaction begun by a statement: Drizzle’s own is synchronous, so that nothing in it can be awaited';
  const remarks = Object.fromEntries(drizzleSqlite.BY_HAND.map((name) => [name, byHand]));
  return { scenarios, remarks, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

function mapScenarios(to: (name: Scenario) => (() => Promise<void>) | Why): Row['scenarios'] {
  // The casts: the keys of a record are its keys.
  return Object.fromEntries(Object.keys(SCENARIOS).map((name) => [name, to(name as Scenario)])) as Row['scenarios'];
}
