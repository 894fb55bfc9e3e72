import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { schema } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import knex from 'knex';
import { FileMigrationProvider, Kysely, Migrator, SqliteDialect } from 'kysely';
import { describe, expect, it } from 'vitest';
import { aProject, type Project } from './project.js';
import { hasSqliteProgram } from './sqlite-program.js';

const NAMES = { table: 'queue_jobs', failedTable: 'queue_failed_jobs' };

function config(options = ''): string {
  return `
import Database from 'better-sqlite3';
import { Queue, defineHandlers } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
const driver = new SqliteDriver(new Database(':memory:'), { ${options} });
export default { queue: new Queue({ driver, handlers: defineHandlers({}) }) };
`;
}

/** The one file below a folder. */
function onlyFile(folder: string): string {
  const [file, ...others] = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  expect(others).toEqual([]);
  return file === undefined ? '' : join(file.parentPath, file.name).slice(folder.length + 1);
}

/** The tables and indexes of a database, without SQLite's and the tools' own. */
function objectsIn(db: Database.Database): string[] {
  const rows = db
    .prepare("SELECT name FROM sqlite_master WHERE name LIKE '%queue%' OR name LIKE '%mail%' ORDER BY name")
    .all();
  return (rows as { readonly name: string }[]).map(({ name }) => name);
}

const OBJECTS = [
  'idx_queue_failed_jobs_failed_at',
  'idx_queue_jobs_reserve',
  'idx_queue_jobs_unique_key',
  'queue_failed_jobs',
  'queue_jobs',
];

describe('q install', () => {
  it("writes the driver's template into a file named by the time in UTC, and touches no database", async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const before = new Date();
    const { code, stdout, stderr } = await project.q(['install'], { env: { TZ: 'Pacific/Auckland' } });
    const file = onlyFile(join(project.folder, 'migrations'));
    expect(file).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-create-queue-tables\.sql$/);
    const [, day, h, m, s] = /^(.{10})-(..)(..)(..)/.exec(file) ?? [];
    const written = new Date(`${day}T${h}:${m}:${s}Z`).getTime();
    expect(written).toBeGreaterThan(before.getTime() - 1000);
    expect(written).toBeLessThanOrEqual(Date.now());
    expect(stdout).toBe(`Wrote migrations/${file}: review it, then apply it\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(join(project.folder, 'migrations', file), 'utf8')).toBe(schema(NAMES));
  });

  it('writes beside the config, wherever it is started, and with --dir where it says', async () => {
    await using project = aProject({ 'q.config.mjs': config(), 'a/empty': '' });
    const beside = await project.q(['install'], { cwd: 'a' });
    expect(beside.stdout).toMatch(/^Wrote \.\.\/migrations\/.*\.sql: review it, then apply it\n$/);
    expect(onlyFile(join(project.folder, 'migrations'))).toMatch(/\.sql$/);
    await project.q(['install', '--dir=db/sql'], { cwd: 'a' });
    expect(onlyFile(join(project.folder, 'a/db/sql'))).toMatch(/\.sql$/);
  });

  it('overwrites nothing', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    // Every name it could choose in the seconds to come is taken.
    mkdirSync(join(project.folder, 'migrations'));
    const taken = Array.from({ length: 20 }, (_, seconds) => {
      const moment = new Date(Date.now() + seconds * 1000).toISOString();
      return `migrations/${moment.slice(0, 10)}-${moment.slice(11, 19).replaceAll(':', '')}-create-queue-tables.sql`;
    });
    for (const file of taken) writeFileSync(join(project.folder, file), 'mine');
    const { code, stdout, stderr } = await project.q(['install']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: \S+-create-queue-tables\.sql is there already; nothing was written\n$/);
    for (const file of taken) expect(readFileSync(join(project.folder, file), 'utf8')).toBe('mine');
  });

  it('prints it with --print, and writes nothing', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const { code, stdout, stderr } = await project.q(['install', '--print']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: schema(NAMES), stderr: '' });
    expect(readdirSync(project.folder).sort()).toEqual(['node_modules', 'q.config.mjs']);
  });

  it('takes the names of the tables, with a schema or without, and derives those of the indexes', async () => {
    await using project = aProject({ 'q.config.mjs': config(`table: 'main.mail_jobs', failedTable: 'mail_failed'`) });
    const { stdout } = await project.q(['install', '--print']);
    const db = new Database(':memory:');
    db.exec(stdout);
    expect(objectsIn(db)).toEqual([
      'idx_mail_failed_failed_at',
      'idx_mail_jobs_reserve',
      'idx_mail_jobs_unique_key',
      'mail_failed',
      'mail_jobs',
    ]);
  });

  it('has nothing to install for a driver without a schema', async () => {
    await using project = aProject({ 'q.config.mjs': `${config()}\ndriver.schema = undefined;` });
    expect(await project.q(['install'])).toMatchObject({ code: 0, stdout: 'Nothing to install\n', stderr: '' });
    const printed = await project.q(['install', '--print']);
    expect(printed).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing to install\n' });
  });
});

/** Installs for a tool, in the language of the config, and gives the folder of the tool's migrations. */
async function installed(project: Project, format: string, folder: string): Promise<string> {
  const { code, stderr } = await project.q(['install', `--format=${format}`]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return join(project.folder, folder);
}

describe('q install --format', () => {
  it('sql is applied by sqlite3, or where there is no such program by better-sqlite3', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const folder = await installed(project, 'sql', 'migrations');
    const file = join(project.folder, 'app.db');
    const migration = join(folder, onlyFile(folder));
    if (hasSqliteProgram()) await promisify(execFile)('sqlite3', ['-bail', file, `.read ${migration}`]);
    else new Database(file).exec(readFileSync(migration, 'utf8'));
    expect(objectsIn(new Database(file))).toEqual(OBJECTS);
  });

  it.each(['mjs', 'js'])('knex is applied, and undone, by Knex (%s)', async (language) => {
    await using project = aProject({ [`q.config.${language}`]: config(), 'package.json': '{ "type": "module" }' });
    const directory = await installed(project, 'knex', 'migrations');
    expect(onlyFile(directory)).toMatch(new RegExp(`^\\d{14}_create_queue_tables\\.${language}$`));
    const filename = join(project.folder, 'app.db');
    const db = knex({ client: 'better-sqlite3', connection: { filename }, useNullAsDefault: true });
    const settings = { directory, loadExtensions: [`.${language}`] };
    await db.migrate.latest(settings);
    expect(objectsIn(new Database(filename))).toEqual(OBJECTS);
    await db.migrate.rollback(settings);
    expect(objectsIn(new Database(filename))).toEqual([]);
    await db.destroy();
  });

  it('kysely is applied, and undone, by Kysely', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const migrationFolder = await installed(project, 'kysely', 'migrations');
    expect(onlyFile(migrationFolder)).toMatch(/^\d{4}-\d\d-\d\d-\d{6}-create-queue-tables\.mjs$/);
    const database = new Database(join(project.folder, 'app.db'));
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });
    const path = { join };
    const fs = { readdir: async (folder: string) => readdirSync(folder) };
    const migrator = new Migrator({ db, provider: new FileMigrationProvider({ fs, path, migrationFolder }) });
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    expect(objectsIn(database)).toEqual(OBJECTS);
    expect((await migrator.migrateDown()).error).toBeUndefined();
    expect(objectsIn(database)).toEqual([]);
    await db.destroy();
  });

  it('knex and kysely are TypeScript where the config is', async () => {
    await using project = aProject({ 'q.config.ts': config(`table: 'main.mail_jobs', failedTable: 'mail_failed'`) });
    for (const format of ['knex', 'kysely']) await installed(project, format, 'migrations');
    const files = readdirSync(join(project.folder, 'migrations')).map((file) => `migrations/${file}`);
    expect(files).toHaveLength(2);
    project.write({
      'tsconfig.json': JSON.stringify({ compilerOptions: STRICT, include: ['migrations'] }),
      'package.json': '{ "type": "module" }',
    });
    const tsc = new URL('../node_modules/typescript/bin/tsc', import.meta.url).pathname;
    await promisify(execFile)(process.execPath, [tsc, '-p', project.folder]).catch((error) =>
      expect(error.stdout).toBe(''),
    );
    const texts = files.map((file) => readFileSync(join(project.folder, file), 'utf8')).join('\n');
    expect(texts).toContain(".schema.withSchema('main').dropTableIfExists('mail_jobs');");
    expect(texts).toContain(".schema.dropTable('mail_failed').ifExists().execute();");
  });

  it('drizzle is listed in its journal, and applied by Drizzle after what is there', async () => {
    const when = Date.now() + 60_000;
    const first = { idx: 0, version: '6', when, tag: '0000_first', breakpoints: true };
    await using project = aProject({
      'q.config.mjs': config(),
      'drizzle/0000_first.sql':
        'CREATE TABLE first (id integer);\n--> statement-breakpoint\nCREATE TABLE second (id integer);',
      'drizzle/meta/_journal.json': JSON.stringify({ version: '7', dialect: 'sqlite', entries: [first] }),
    });
    const file = join(project.folder, 'app.db');
    // A program of its own: Drizzle's types do not pass the compiler as it is set up here.
    const script = new URL('drizzle-migrate.mjs', import.meta.url).pathname;
    const migrate = (folder: string) => promisify(execFile)(process.execPath, [script, file, folder]);
    await migrate(join(project.folder, 'drizzle'));
    const folder = await installed(project, 'drizzle', 'drizzle');
    await migrate(folder);
    expect(objectsIn(new Database(file))).toEqual(OBJECTS);
    expect(JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))).toEqual({
      version: '7',
      dialect: 'sqlite',
      entries: [first, { idx: 1, version: '6', when: when + 1, tag: '0001_create_queue_tables', breakpoints: true }],
    });
  });

  it('drizzle without a journal is a failure that says what to do, and writes nothing', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const { code, stderr } = await project.q(['install', '--format=drizzle']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: .*drizzle\/meta\/_journal\.json cannot be read .*: make it with drizzle-kit generate, .*\n$/,
    );
    expect(readdirSync(project.folder).sort()).toEqual(['node_modules', 'q.config.mjs']);
  });

  // Prisma's own program fetches its engine when it is installed, so its migrations are applied by another client.
  it('prisma is a folder with a migration, applied by better-sqlite3', async () => {
    await using project = aProject({ 'q.config.mjs': config() });
    const folder = await installed(project, 'prisma', 'prisma/migrations');
    const file = onlyFile(folder);
    expect(file).toMatch(/^\d{14}_create_queue_tables\/migration\.sql$/);
    const db = new Database(':memory:');
    db.exec(readFileSync(join(folder, file), 'utf8'));
    expect(objectsIn(db)).toEqual(OBJECTS);
  });
});

const STRICT = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', skipLibCheck: true, types: [] };
