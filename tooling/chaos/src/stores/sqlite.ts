import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { EFFECTS } from './client.js';
import { readFinalState } from './rows.js';
import { mountSmallDisk } from './small-disk.js';
import type { ChaosStore, Space } from './store.js';

const DISK_MB = 8;

export async function sqliteStore({ smallDisk }: { readonly smallDisk: boolean }): Promise<ChaosStore> {
  const disk = smallDisk ? mountSmallDisk(DISK_MB) : null;
  return {
    kind: 'sqlite',
    server: null,
    relay: null,
    disk,
    open: () => open(disk?.folder ?? tmpdir()),
    [Symbol.asyncDispose]: async () => disk?.[Symbol.dispose](),
  };
}

async function open(parent: string): Promise<Space> {
  const folder = mkdtempSync(join(parent, 'q-chaos-'));
  const file = join(folder, 'app.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  await using driver = new SqliteDriver(db);
  await driver.createTables();
  db.exec(`CREATE TABLE ${EFFECTS} (push TEXT NOT NULL)`);
  // The cast: rows of a SELECT.
  const all = async (sql: string) => db.prepare(sql).all() as object[];
  return {
    place: { kind: 'sqlite', url: file },
    left: async () => (await all('SELECT id FROM queue_jobs')).length,
    finalState: () => readFinalState(all),
    async [Symbol.asyncDispose]() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
