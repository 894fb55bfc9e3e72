import { describe, expect, it } from 'vitest';
import { FORMATS, type Migration } from '../src/migrations/formats.js';
import { splitStatements } from '../src/migrations/split-statements.js';

function aMigration(parts: Partial<Migration>): Migration {
  return { sql: 'SELECT 1;', tables: null, language: 'mjs', now: new Date('2027-01-02T03:04:05.678Z'), ...parts };
}

describe('The statements of a script', () => {
  it.each([
    ['nothing', '-- only a comment; no more\n', []],
    ['one without an end', 'SELECT 1', ['SELECT 1']],
    ['their comments', '-- a; b\nSELECT 1;\n/* c; */ SELECT 2; -- the end;\n', ['-- a; b\nSELECT 1', '/* c; */ SELECT 2']],
    ['quoted text', `INSERT INTO a VALUES ('x;y', 'it''s;', '\\';', ';'); SELECT 2`, [`INSERT INTO a VALUES ('x;y', 'it''s;', '\\';', ';')`, 'SELECT 2']],
    ['quoted names', 'SELECT ";", `;` FROM a; SELECT 2', ['SELECT ";", `;` FROM a', 'SELECT 2']],
    ['signs that begin no comment', 'SELECT 1 - 2 / 3 -1; SELECT a-b', ['SELECT 1 - 2 / 3 -1', 'SELECT a-b']],
    ['empty ones', ';; SELECT 1 ;\n;', ['SELECT 1']],
  ])('keep %s', (_, script, statements) => {
    expect(splitStatements(script)).toEqual(statements);
  }); // biome-ignore format: a table
});

describe('A migration in code', () => {
  it('gives back any SQL as it was', async () => {
    const sql = ['SELECT `a`, "b", \'\\\\c $', "{d} $e' -- f`\n;"].join('');
    for (const format of ['knex', 'kysely'] as const) {
      const code = FORMATS[format].content(aMigration({ sql }));
      const literal = /const statements = (\[[\s\S]*?\n\]);/.exec(code)?.[1] ?? '';
      // What the language makes of it: an import of a module that has the literal alone.
      const module = await import(`data:text/javascript,${encodeURIComponent(`export default ${literal}`)}`);
      expect(module.default).toEqual([sql.slice(0, -2)]);
    }
  });

  it('does not guess which tables to drop', () => {
    for (const format of ['knex', 'kysely'] as const) {
      expect(FORMATS[format].content(aMigration({}))).toContain("throw new Error('Say here which tables to drop.');");
    }
  });

  it('drops the tables by the names that the driver tells', () => {
    const migration = aMigration({ tables: ['app.failed', 'jobs'] });
    expect(FORMATS.knex.content(migration)).toContain(
      "  await knex.schema.withSchema('app').dropTableIfExists('failed');\n  await knex.schema.dropTableIfExists('jobs');\n",
    );
  });
});

describe('A migration', () => {
  it('is named as its tool sorts it', () => {
    const names = Object.entries(FORMATS).map(([name, { folder, file }]) => [
      name,
      `${folder}/${file(aMigration({}))}`,
    ]);
    expect(Object.fromEntries(names)).toEqual({
      sql: 'migrations/2027-01-02-030405-create-queue-tables.sql',
      knex: 'migrations/20270102030405_create_queue_tables.mjs',
      kysely: 'migrations/2027-01-02-030405-create-queue-tables.mjs',
      drizzle: 'drizzle/create_queue_tables.sql',
      prisma: 'prisma/migrations/20270102030405_create_queue_tables/migration.sql',
    });
  });
});
