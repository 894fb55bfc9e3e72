import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {} from '@q/servers/vitest/postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { copyCompiled, generatePrisma, makeProject, pack, run, specOf } from '../src/fresh-project.js';
import { openPostgres, openSqlite, type Store } from '../src/stores.js';

const PG = ['pg', '@types/pg'];

interface Library {
  readonly driver: 'driver-pg' | 'driver-sqlite';
  readonly packages: readonly string[];
  readonly prepare?: (folder: string) => Promise<void>;
}

/** What a stranger installs for the lines of docs/transactions.md. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  drizzle: { driver: 'driver-pg', packages: [...PG, 'drizzle-orm'] },
  'drizzle-sqlite': {
    driver: 'driver-sqlite',
    packages: ['better-sqlite3', '@types/better-sqlite3', 'drizzle-orm'],
    prepare: copyCompiled,
  },
  kysely: { driver: 'driver-pg', packages: [...PG, 'kysely'] },
  knex: { driver: 'driver-pg', packages: [...PG, 'knex'] },
  prisma: {
    driver: 'driver-pg',
    packages: [...PG, 'prisma', '@prisma/client', '@prisma/adapter-pg'],
    prepare: generatePrisma,
  },
  typeorm: { driver: 'driver-pg', packages: [...PG, 'typeorm'] },
  'mikro-orm': { driver: 'driver-pg', packages: [...PG, '@mikro-orm/core', '@mikro-orm/postgresql'] },
  sequelize: { driver: 'driver-pg', packages: [...PG, 'sequelize'] },
};

const folder = mkdtempSync(join(tmpdir(), 'q-fresh-'));
const tarballs: Record<string, string> = {};

beforeAll(async () => {
  for (const name of ['core', 'driver-pg', 'driver-sqlite']) tarballs[name] = await pack(name, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.entries(LIBRARIES))(
  'In a fresh project the lines for %s',
  (library, { driver, packages, prepare }) => {
    it('compile, commit, and roll back', async () => {
      await using store: Store<never> =
        driver === 'driver-pg' ? await openPostgres(inject('postgres')) : await openSqlite();
      const id = driver === 'driver-pg' ? 'serial' : 'integer';
      await store.rows(`CREATE TABLE payments (id ${id} PRIMARY KEY, amount integer NOT NULL)`);
      const project = join(folder, library);
      const ours = ['core', driver].map((name) => tarballs[name] ?? '');
      await makeProject({
        library,
        folder: project,
        packages: [...ours, ...packages.map(specOf)],
        prepare: prepare ?? null,
      });
      const found = async () => [
        (await store.rows('SELECT amount FROM payments')).length,
        await store.driver.pending(),
      ];

      await expect(run(project, 'throws', store.place)).rejects.toThrow('taken back');
      expect(await found()).toStrictEqual([0, 0]);
      expect(await run(project, 'commits', store.place)).toBe('');
      expect(await found()).toStrictEqual([1, 1]);
    });
  },
);
