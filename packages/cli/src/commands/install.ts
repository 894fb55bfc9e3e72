import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { hasSchema } from '@q/core';
import { type Command, Option } from 'commander';
import type { LoadedConfig } from '../config.js';
import { type ExitCode, failed } from '../errors.js';
import { nextDrizzleMigration } from '../migrations/drizzle-journal.js';
import { FORMATS, type Format, type FormatName, type Language, type Migration } from '../migrations/formats.js';
import type { Run } from '../run.js';
import type { Session } from '../session.js';

interface Options {
  readonly dir?: string;
  readonly print?: true;
  readonly format: FormatName;
}

export function addInstall(program: Command, run: Run): void {
  const formats = Object.keys(FORMATS);
  program
    .command('install')
    .description("writes a migration that creates the driver's tables; never applies it, never overwrites a file")
    .option('--dir <folder>', 'where migrations are kept (migrations, drizzle or prisma/migrations beside the config)')
    .option('--print', 'prints it instead')
    .addOption(new Option('--format <tool>', 'the tool that will apply it').choices(formats).default('sql'))
    .action((options: Options) => run((session) => install(session, options)));
}

async function install(session: Session, options: Options): Promise<ExitCode> {
  return session.withConfig(async (loaded) => {
    const migration = migrationOf(loaded);
    if (migration === null) {
      // Not to stdout with --print: what reads it takes it for SQL.
      (options.print ? session.err : session.out).line('Nothing to install');
      return 0;
    }
    const format: Format = FORMATS[options.format];
    if (options.print) {
      session.out.write(format.content(migration));
      return 0;
    }
    // A folder that is named is one of the shell's; one that is not belongs to the project.
    const folder =
      options.dir === undefined ? join(dirname(loaded.file), format.folder) : resolve(session.folder, options.dir);
    const file = await (options.format === 'drizzle' ? writeForDrizzle : writeMigration)(folder, format, migration);
    session.out.line(`Wrote ${relative(session.folder, file)}: review it, then apply it`);
    return 0;
  });
}

function migrationOf({ config, file }: LoadedConfig): Migration | null {
  const { driver } = config.queue;
  if (!hasSchema(driver)) return null;
  // The cast: SQL drivers tell their table names, which no interface asks of them.
  const { table, failedTable } = driver as { readonly table?: unknown; readonly failedTable?: unknown };
  const tables = typeof table === 'string' && typeof failedTable === 'string' ? [failedTable, table] : null;
  // The cast: findConfig looks for these endings alone.
  const language = extname(file).slice(1) as Language;
  return { sql: driver.schema(), tables, language, now: new Date() };
}

async function writeMigration(folder: string, format: Format, migration: Migration): Promise<string> {
  const file = join(folder, format.file(migration));
  await writeNew(file, format.content(migration));
  return file;
}

async function writeForDrizzle(folder: string, format: Format, migration: Migration): Promise<string> {
  const next = await nextDrizzleMigration(folder, format.file(migration).replace(/\.sql$/, ''));
  const file = join(folder, next.file);
  await writeNew(file, format.content(migration));
  await next.record(migration.now);
  return file;
}

async function writeNew(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(file, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw failed(`${file} is there already; nothing was written`, { cause: error });
  }
}
