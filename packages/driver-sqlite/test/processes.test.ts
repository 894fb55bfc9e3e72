import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { aFolder, count, messageOf, start } from './fixtures.js';

describe('eight processes that start together on an empty database', () => {
  it.each([1, 2, 3, 4, 5])(
    'all create the tables and push (round %i)',
    async () => {
      const file = join(aFolder(), 'app.db');
      const children = Array.from({ length: 8 }, () => start('boot', file));
      await Promise.all(children.map((child) => messageOf(child)));
      const booted = children.map((child) => messageOf(child));
      for (const child of children) child.send('go');
      expect(await Promise.all(booted)).toStrictEqual(Array(8).fill('booted'));
      const db = new Database(file);
      expect(count(db)).toBe(8);
      const names = db.prepare("SELECT name FROM sqlite_master WHERE name LIKE '%queue%' ORDER BY name").pluck().all();
      expect(names).toStrictEqual([
        'idx_queue_failed_jobs_failed_at',
        'idx_queue_jobs_reserve',
        'idx_queue_jobs_unique_key',
        'queue_failed_jobs',
        'queue_jobs',
      ]);
      db.close();
    },
    60_000,
  );
});

describe('four processes that push and work on one file', () => {
  // Outside WAL every commit waits for the disk: fewer of them say the same.
  it.each([
    ['wal', 500],
    ['delete', 50],
  ])(
    'do every job once (%s, %i pushes each)',
    async (journal, pushes) => {
      const file = join(aFolder(), 'app.db');
      const db = new Database(file);
      db.pragma(`journal_mode = ${journal}`);
      const first = start('boot', file);
      await messageOf(first);
      first.send('go');
      await messageOf(first);
      const children = Array.from({ length: 4 }, () => start('work', file, pushes));
      await Promise.all(children.map((child) => messageOf(child)));
      const working = children.map((child) => messageOf<number[]>(child));
      for (const child of children) child.send('go');
      const done = (await Promise.all(working)).flat().sort((a, b) => a - b);
      expect(done).toStrictEqual(Array.from({ length: 4 * pushes + 1 }, (_, index) => index + 1));
      expect(count(db)).toBe(0);
      expect(count(db, 'queue_failed_jobs')).toBe(0);
      db.close();
    },
    120_000,
  );
});
