import type { Language, Migration } from './formats.js';
import { splitStatements } from './split-statements.js';

/** Knex: `up` and `down`, since it runs no migration that lacks one of them. */
export function knexMigration(migration: Migration): string {
  const { language } = migration;
  const type = typeIn(language, 'Knex');
  return file([
    language === 'ts' ? "import type { Knex } from 'knex';\n" : '',
    statementsOf(migration),
    `export async function up(knex${type})${promiseIn(language)} {`,
    '  for (const statement of statements) await knex.raw(statement);',
    '}\n',
    `export async function down(knex${type})${promiseIn(language)} {`,
    ...down(migration, (schema, table) => `await knex.schema${withSchema(schema)}.dropTableIfExists(${table});`),
    '}',
  ]);
}

/** Kysely. */
export function kyselyMigration(migration: Migration): string {
  const { language } = migration;
  const type = typeIn(language, 'Kysely<unknown>');
  return file([
    `import { ${language === 'ts' ? 'type Kysely, ' : ''}sql } from 'kysely';\n`,
    statementsOf(migration),
    `export async function up(db${type})${promiseIn(language)} {`,
    '  for (const statement of statements) await sql.raw(statement).execute(db);',
    '}\n',
    `export async function down(db${type})${promiseIn(language)} {`,
    ...down(
      migration,
      (schema, table) => `await db.schema${withSchema(schema)}.dropTable(${table}).ifExists().execute();`,
    ),
    '}',
  ]);
}

function file(lines: readonly string[]): string {
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function statementsOf({ sql }: Migration): string {
  const statements = splitStatements(sql).map((statement) => `  ${templateLiteral(statement)},`);
  return ['const statements = [', ...statements, '];\n'].join('\n');
}

/** The SQL as it is, legible, in quotes that it may hold. */
function templateLiteral(text: string): string {
  return `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
}

/** The tool quotes the names, as its dialect wants it. */
function down({ tables }: Migration, drop: (schema: string | null, table: string) => string): string[] {
  if (tables === null) return ["  throw new Error('Say here which tables to drop.');"];
  return tables.map((name) => {
    const [table = '', schema = null] = name.split('.').reverse();
    return `  ${drop(schema, quoted(table))}`;
  });
}

function withSchema(schema: string | null): string {
  return schema === null ? '' : `.withSchema(${quoted(schema)})`;
}

/** Table names are letters, digits and underscores, and a dot. */
function quoted(name: string): string {
  return `'${name}'`;
}

function typeIn(language: Language, type: string): string {
  return language === 'ts' ? `: ${type}` : '';
}

function promiseIn(language: Language): string {
  return language === 'ts' ? ': Promise<void>' : '';
}
