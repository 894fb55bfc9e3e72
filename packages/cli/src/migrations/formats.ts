import { shownMoment } from '../moments.js';
import { knexMigration, kyselyMigration } from './code.js';
import { splitStatements } from './split-statements.js';

/** What a migration is made of. */
export interface Migration {
  /** The driver's template. */
  readonly sql: string;
  /** Both tables, newest first; null where the driver does not tell its names. */
  readonly tables: readonly string[] | null;
  /** What the project's code is written in, by the ending of its config. */
  readonly language: Language;
  readonly now: Date;
}

export type Language = 'ts' | 'js' | 'mjs';

/** A way of keeping migrations that people have. */
export interface Format {
  /** Where they are kept unless told otherwise. */
  readonly folder: string;
  /** The file, below that folder. */
  readonly file: (migration: Migration) => string;
  readonly content: (migration: Migration) => string;
}

const NAME = 'create-queue-tables';

/** Drizzle numbers its migrations and lists them in a journal, so its file is named by what the journal holds. */
export const FORMATS = {
  sql: {
    folder: 'migrations',
    file: ({ now }) => `${dashed(now)}-${NAME}.sql`,
    content: ({ sql }) => sql,
  },
  knex: {
    folder: 'migrations',
    file: ({ now, language }) => `${digits(now)}_${NAME.replaceAll('-', '_')}.${language}`,
    content: (migration) => knexMigration(migration),
  },
  kysely: {
    folder: 'migrations',
    file: ({ now, language }) => `${dashed(now)}-${NAME}.${language}`,
    content: (migration) => kyselyMigration(migration),
  },
  drizzle: {
    folder: 'drizzle',
    file: () => `${NAME.replaceAll('-', '_')}.sql`,
    content: ({ sql }) => `${splitStatements(sql).join(';\n--> statement-breakpoint\n')};\n`,
  },
  prisma: {
    folder: 'prisma/migrations',
    file: ({ now }) => `${digits(now)}_${NAME.replaceAll('-', '_')}/migration.sql`,
    content: ({ sql }) => sql,
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

/** `2027-01-31-235959`, UTC: sorts by time. */
function dashed(now: Date): string {
  return shownMoment(now).replace(' ', '-').replaceAll(':', '');
}

/** `20270131235959`, UTC. */
function digits(now: Date): string {
  return shownMoment(now).replace(/\D/g, '');
}
