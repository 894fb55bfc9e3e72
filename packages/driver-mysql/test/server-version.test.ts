import { describe, expect, it } from 'vitest';
import { canSkipLocked } from '../src/server-version.js';
import { claiming, open, useDatabase, watched } from './fixtures.js';

const database = useDatabase();

const SKIPS = [
  '8.0.0',
  '8.0.0-dmr',
  '8.0.36',
  '8.0.36-28', // Percona
  '8.0.36-0ubuntu0.22.04.1',
  '8.0.28', // Aurora 3
  '8.4.3',
  '9.7.4-2',
  '10.0.1',
  '10.6.0-MariaDB',
  '10.6.18-MariaDB-log',
  '10.11.19-MariaDB-0+deb12u1',
  '11.4.2-MARIADB',
  '11.0.2-MariaDB-1:11.0.2+maria~ubu2204',
  '5.5.5-10.11.6-MariaDB',
  '5.5.5-10.6.16-MariaDB-log',
];

const DOES_NOT = [
  '5.5.5',
  '5.6.51',
  '5.7.44',
  '5.7.44-48', // Percona
  '5.7.12', // Aurora 2
  '5.7.mysql_aurora.2.11.2',
  '8.0.mysql_aurora.3.05.2', // cannot be read, so it gets none
  '10.3.39-MariaDB',
  '10.5.23-MariaDB-0+deb11u1',
  '10.5.99-MariaDB',
  '5.5.5-10.5.22-MariaDB',
  '5.7.25-TiDB-v6.5.0',
  '8.0.11-TiDB-v7.5.0', // has the number, and refuses the clause
  '',
  ' 8.0.36',
  'garbage',
  '8',
  '8.0',
  'v8.0.36',
  'MariaDB',
  'null',
];

describe('FOR UPDATE SKIP LOCKED', () => {
  it.each(SKIPS)('is used on a server that calls itself %j', (version) => {
    expect(canSkipLocked(version)).toBe(true);
  });

  it.each(DOES_NOT)('is not used on a server that calls itself %j', (version) => {
    expect(canSkipLocked(version)).toBe(false);
  });

  it.each([
    ['10.11.19-MariaDB', 3],
    ['5.7.44', 0],
  ])('is decided by the version (%s), asked once for a driver and never tried out', async (version, locks) => {
    const { pool } = await open(database.url());
    const notes = watched(pool, { before: claiming(version) });
    const { driver } = await open(database.url(), { wrap: () => notes.pool });
    await driver.push({ name: 'a', payload: {}, delay: 0, queue: 'a', priority: 0, unique: null, maxAttempts: 1 });
    for (let round = 0; round < 3; round += 1) await driver.reserve(['a'], 60, 'w');
    expect(notes.sent.filter((sql) => /version\(\)/.test(sql)).length).toBe(1);
    expect(notes.sent.filter((sql) => /SKIP LOCKED/.test(sql)).length).toBe(locks);
  });

  it('is decided for each driver by its own server', async () => {
    const { pool } = await open(database.url());
    const old = watched(pool, { before: claiming('10.5.22-MariaDB') });
    const young = watched(pool, { before: claiming('10.6.0-MariaDB') });
    for (const { pool } of [old, young]) {
      const { driver } = await open(database.url(), { wrap: () => pool });
      await driver.push({ name: 'a', payload: {}, delay: 0, queue: 'a', priority: 0, unique: null, maxAttempts: 1 });
      expect(await driver.reserve(['a'], 60, 'w')).not.toBeNull();
    }
    expect([old, young].map(({ sent }) => sent.some((sql) => /SKIP LOCKED/.test(sql)))).toStrictEqual([false, true]);
  });
});
