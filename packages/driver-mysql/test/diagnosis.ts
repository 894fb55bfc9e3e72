import type { Finding } from '@q/core';
import { createMysqlDatabase } from '@q/servers';
import type mysql from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MysqlDriver } from '../src/index.js';
import { aPool, open } from './fixtures.js';

const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level !== 'ok').map(({ level, code, message }) => [level, code, message].join(': '));

interface Kind {
  readonly name: string;
  /** The server's, as root. */
  readonly url: () => string;
  readonly skipsLocked: boolean;
}

/** What the diagnosis says on one kind of server, well and spoiled. */
export function describeDiagnosis({ name, url, skipsLocked }: Kind): void {
  const old = skipsLocked ? [] : [expect.stringMatching(/^warning: server_version: .* has no SKIP LOCKED, so workers/)];

  /** A database of the test's own with the tables, and a driver on it by the time of day. */
  async function aDatabase(): Promise<{
    readonly url: string;
    readonly pool: mysql.Pool;
    readonly driver: MysqlDriver;
  }> {
    const space = await createMysqlDatabase(url());
    onTestFinished(() => space.drop());
    const { pool, driver } = await open(space.url, { now: () => new Date() });
    return { url: space.url, pool, driver };
  }

  describe(`the diagnosis of ${name}`, () => {
    it('of a server that is well finds nothing wrong, and tells what it looked at', async () => {
      const { driver } = await aDatabase();
      const findings = await driver.diagnose();
      expect(findings.map(({ code }) => code)).toStrictEqual([
        ...[
          'server_version',
          'binlog_format',
          'read_only',
          'isolation',
          'clock',
          'tables',
          'grants',
          'tables',
          'grants',
        ],
      ]);
      expect(wrong(findings)).toStrictEqual(old);
    });

    it.each([
      [
        'a column is missing',
        'ALTER TABLE queue_jobs DROP COLUMN last_error',
        ['error: tables: queue_jobs has no column last_error'],
      ],
      [
        'a time is a timestamp',
        'ALTER TABLE queue_failed_jobs MODIFY failed_at timestamp NOT NULL',
        ['error: tables: queue_failed_jobs.failed_at is timestamp; the template has datetime'],
      ],
      [
        'a payload holds too little',
        'ALTER TABLE queue_jobs MODIFY payload tinytext NOT NULL',
        [
          'error: tables: queue_jobs.payload is tinytext; the template has text',
          expect.stringMatching(/^error: collation: queue_jobs.payload has the collation latin1/),
        ],
      ],
      [
        'the index of the claim is missing',
        'DROP INDEX idx_queue_jobs_reserve ON queue_jobs',
        [
          'error: tables: queue_jobs has no index on queue, priority, available_at, id of the name idx_queue_jobs_reserve: every claim names it, and is refused',
        ],
      ],
      [
        'a unique key is compared by its beginning',
        'ALTER TABLE queue_jobs DROP INDEX idx_queue_jobs_unique_key, ADD UNIQUE INDEX k (unique_key(10))',
        ['error: tables: queue_jobs has no unique index on unique_key: a unique key is held by nobody'],
      ],
      [
        'a queue is compared without case',
        "ALTER TABLE queue_jobs MODIFY queue varchar(64) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT 'default'",
        [
          'error: collation: queue_jobs.queue has the collation utf8mb4_unicode_ci, by which texts that differ may be the same',
        ],
      ],
      [
        'the failed jobs are in MyISAM',
        'ALTER TABLE queue_failed_jobs ENGINE=MyISAM',
        ['error: engine: queue_failed_jobs is of the engine MyISAM, which has no transactions'],
      ],
      [
        'a table is missing',
        'DROP TABLE queue_failed_jobs',
        ['error: tables: There is no table queue_failed_jobs that this user can see'],
      ],
    ])('says that %s', async (_, spoil, expected) => {
      const { url, pool, driver } = await aDatabase();
      await pool.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} CHARACTER SET latin1`);
      // Without the collation of the table, as in a migration of somebody who did not think of it.
      await pool.query(spoil.replace('tinytext', 'tinytext CHARACTER SET latin1'));
      expect(wrong(await driver.diagnose())).toStrictEqual([...old, ...expected]);
    });

    it('has nothing against what an application may add or widen', async () => {
      const { pool, driver } = await aDatabase();
      await pool.query(`ALTER TABLE queue_jobs ADD tenant text, ADD shard int NOT NULL DEFAULT 0,
        MODIFY payload mediumtext NOT NULL, MODIFY name varchar(191) NOT NULL`);
      expect(wrong(await driver.diagnose())).toStrictEqual(old);
    });

    it('says what the user may not do', async () => {
      const { url } = await aDatabase();
      const database = new URL(url).pathname.slice(1);
      const clerk = `c_${database.slice(2)}`;
      const root = new URL(url);
      root.username = 'root';
      const pool = aPool(root.href);
      for (const host of ['%', 'localhost']) {
        await pool.query(`CREATE USER '${clerk}'@'${host}'`);
        onTestFinished(() => pool.query(`DROP USER '${clerk}'@'${host}'`).then(() => {}));
        await pool.query(`GRANT SELECT, INSERT ON ${database}.queue_jobs TO '${clerk}'@'${host}'`);
        await pool.query(`GRANT ALL ON ${database}.queue_failed_jobs TO '${clerk}'@'${host}'`);
      }
      const theirs = new URL(url);
      theirs.username = clerk;
      const { driver } = await open(theirs.href, { tables: false, now: () => new Date() });
      expect(wrong(await driver.diagnose())).toStrictEqual([
        ...old,
        'error: grants: This user lacks UPDATE, DELETE on queue_jobs',
      ]);
    });

    it.each([
      [-90, 'behind', 90],
      [3_600, 'ahead of', 3_600],
    ])('says that the clocks differ by %i s, whatever the zone of the session', async (seconds, which, shown) => {
      const { url } = await aDatabase();
      const now = () => new Date(Date.now() - seconds * 1000);
      const { driver, pool } = await open(url, { tables: false, now });
      pool.on('connection', (connection) => void connection.query("SET time_zone = '-05:00'"));
      expect(wrong(await driver.diagnose())).toStrictEqual([
        ...old,
        `warning: clock: The server's clock is ${shown} s ${which} that of this process`,
      ]);
    });

    it('says that transactions begin at SERIALIZABLE', async () => {
      const { url } = await aDatabase();
      const { driver, pool } = await open(url, { tables: false, now: () => new Date() });
      pool.on('connection', (connection) => {
        void connection.query('SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      });
      expect(wrong(await driver.diagnose())).toStrictEqual([
        ...old,
        'warning: isolation: Transactions begin at SERIALIZABLE, so those that read the tables of the queue block its workers',
      ]);
    });
  });
}
