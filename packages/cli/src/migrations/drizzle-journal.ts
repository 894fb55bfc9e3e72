import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failed, messageOf } from '../errors.js';

interface Entry {
  readonly idx: number;
  readonly version: string;
  readonly when: number;
  readonly tag: string;
  readonly breakpoints: boolean;
}

interface Journal {
  readonly version: string;
  readonly entries: readonly Entry[];
}

/** The journal of a folder of Drizzle's, and what the next migration is called by it. */
export interface NextMigration {
  readonly file: string;
  /** Adds the migration: Drizzle runs what the journal lists, and nothing else. */
  record(now: Date): Promise<void>;
}

/**
 * Reads the journal. Throws (exit code 1) where there is none: it says which dialect the project is in, which is not
 * for this command to guess.
 */
export async function nextDrizzleMigration(folder: string, name: string): Promise<NextMigration> {
  const path = join(folder, 'meta', '_journal.json');
  const journal = await readJournal(path);
  const last = journal.entries.at(-1);
  const idx = last === undefined ? 0 : last.idx + 1;
  const tag = `${String(idx).padStart(4, '0')}_${name}`;
  return {
    file: `${tag}.sql`,
    async record(now) {
      // Drizzle runs what is younger than the youngest it ran.
      const when = Math.max(now.getTime(), (last?.when ?? 0) + 1);
      const entry: Entry = { idx, version: last?.version ?? journal.version, when, tag, breakpoints: true };
      const text = `${JSON.stringify({ ...journal, entries: [...journal.entries, entry] }, null, 2)}\n`;
      // Whole or not at all: half a journal would be no journal.
      await writeFile(`${path}.new`, text, { flag: 'wx' });
      await rename(`${path}.new`, path);
    },
  };
}

async function readJournal(path: string): Promise<Journal> {
  try {
    const journal: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (isJournal(journal)) return journal;
    throw new Error('it is not a journal of Drizzle');
  } catch (error) {
    const hint = 'make it with drizzle-kit generate, or name its folder with --dir';
    throw failed(`${path} cannot be read (${messageOf(error)}): ${hint}`, { cause: error });
  }
}

function isJournal(value: unknown): value is Journal {
  if (typeof value !== 'object' || value === null || !('entries' in value) || !('version' in value)) return false;
  return Array.isArray(value.entries) && typeof value.version === 'string';
}
