import type {} from '@q/servers/vitest/mariadb';
import type {} from '@q/servers/vitest/postgres';
import { afterAll, beforeAll, beforeEach, describe, inject, it } from 'vitest';
import { LIBRARIES, type Row, STORES } from '../src/matrix.js';
import { SCENARIOS, type Scenario } from '../src/scenarios.js';
import { openMysql, openPostgres, openSqlite } from '../src/stores.js';

// On a machine with other work to do, a cell of seconds may take many.
const CELL_MS = 120_000;

const stores = {} as { -readonly [K in keyof Opened]: Opened[K] };
type Opened = {
  readonly Postgres: Awaited<ReturnType<typeof openPostgres>>;
  readonly MariaDB: Awaited<ReturnType<typeof openMysql>>;
  readonly SQLite: Awaited<ReturnType<typeof openSqlite>>;
};

beforeAll(async () => {
  stores.Postgres = await openPostgres(inject('postgres'));
  stores.MariaDB = await openMysql(inject('mariadb'));
  stores.SQLite = await openSqlite();
}, CELL_MS);

afterAll(async () => {
  for (const store of Object.values(stores)) await store[Symbol.asyncDispose]();
}, CELL_MS);

for (const [library, openings] of Object.entries(LIBRARIES)) {
  for (const store of STORES) {
    const opening = openings[store];
    if ('why' in opening) {
      it.skip(`${library} on ${store}: ${opening.why}`);
      continue;
    }
    describe(`${library} on ${store}`, () => {
      let row: Row;
      beforeAll(async () => {
        row = await opening(stores);
      }, CELL_MS);
      afterAll(() => row?.[Symbol.asyncDispose](), CELL_MS);
      beforeEach(() => stores[store].clear());
      for (const scenario of Object.keys(SCENARIOS) as Scenario[]) {
        it(scenario, { timeout: CELL_MS }, async ({ skip }) => {
          const cell = row.scenarios[scenario];
          if ('why' in cell) skip(cell.why);
          else await cell();
        });
      }
    });
  }
}
