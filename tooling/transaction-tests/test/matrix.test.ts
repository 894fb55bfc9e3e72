import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type {} from '@q/servers/vitest/mariadb';
import type {} from '@q/servers/vitest/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { LIBRARIES, type Row, STORES, type StoreName } from '../src/matrix.js';
import { SCENARIOS, type Scenario } from '../src/scenarios.js';
import { openMysql, openPostgres, openSqlite } from '../src/stores.js';
import { type Result, type ResultRow, withTable } from '../src/table.js';

// On a machine with other work to do, a cell of seconds may take many.
const CELL_MS = 120_000;

const NAMES = Object.keys(SCENARIOS) as Scenario[];
const PAGE = new URL('../../../docs/transactions.md', import.meta.url);

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

/** In the order in which they are tried. */
const rows: ResultRow[] = [];

for (const [library, openings] of Object.entries(LIBRARIES)) {
  for (const store of STORES) {
    const opening = openings[store];
    if ('why' in opening) {
      rows.push({ library, store, results: all(opening) });
      it.skip(`${library} on ${store}: ${opening.why}`);
      continue;
    }
    const results = all('no');
    rows.push({ library, store, results });
    describe(`${library} on ${store}`, () => tryAll(store, opening, results));
  }
}

function tryAll(store: StoreName, open: (stores: Opened) => Promise<Row>, results: Record<Scenario, Result>): void {
  let row: Row;
  beforeAll(async () => {
    row = await open(stores);
  }, CELL_MS);
  afterAll(() => row?.[Symbol.asyncDispose](), CELL_MS);
  beforeEach(() => stores[store].clear());
  for (const scenario of NAMES) {
    it(scenario, { timeout: CELL_MS }, async ({ skip }) => {
      const cell = row.scenarios[scenario];
      if ('why' in cell) {
        results[scenario] = cell;
        return skip(cell.why);
      }
      await cell();
      const remark = row.remarks?.[scenario];
      results[scenario] = remark === undefined ? 'yes' : { remark };
    });
  }
}

it('The table in docs/transactions.md is what this run gave (-u writes it)', async () => {
  const page = readFileSync(PAGE, 'utf8');
  await expect(withTable(page, rows)).toMatchFileSnapshot(fileURLToPath(PAGE));
});

function all(result: Result): Record<Scenario, Result> {
  // The cast: of a record with these very keys.
  return Object.fromEntries(NAMES.map((name) => [name, result])) as Record<Scenario, Result>;
}
