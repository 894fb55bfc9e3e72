import type { PgTransaction } from '@q/driver-pg';
import type {} from '@q/servers/vitest/postgres';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import type { Application, Inside } from '../src/application.js';
import * as knex from '../src/libraries/knex.js';
import { SCENARIOS, type Scenario } from '../src/scenarios.js';
import { openPostgres } from '../src/stores.js';

it('an adapter that sends its statements on another connection is found out by these scenarios', async () => {
  await using store = await openPostgres(inject('postgres'));
  await using app = await knex.onPostgres(store.place);
  const pool = new pg.Pool({ connectionString: store.place });
  const elsewhere = { query: pool.query.bind(pool), escapeIdentifier: pg.escapeIdentifier } as PgTransaction;
  const found: string[] = [];
  for (const name of Object.keys(SCENARIOS) as Scenario[]) {
    await store.clear();
    await SCENARIOS[name]({ app: withTx(app, elsewhere), store }).catch(() => found.push(name));
  }
  await pool.end();
  expect(found).toStrictEqual(['commit', 'rollback', 'savepoint', 'callback throws', 'complete, rollback']);
}, 120_000);

function withTx<Tx>(app: Application<Tx>, tx: Tx): Application<Tx> {
  const wrong = (inside: Inside<Tx>): Inside<Tx> => ({
    note: inside.note,
    tx: () => tx,
    nested: (work) => inside.nested((inner) => work(wrong(inner))),
  });
  return {
    ...app,
    transaction: (work) => app.transaction((inside) => work(wrong(inside))),
    rolledBack: app.rolledBack && ((work) => app.rolledBack?.((inside) => work(wrong(inside))) ?? Promise.resolve()),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
