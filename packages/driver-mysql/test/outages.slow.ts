import { createMysqlDatabase, type Server, startMariaDb, startMysql } from '@q/servers';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MysqlDriver } from '../src/index.js';
import { aJob, aPool, emptyTables, rowsOf } from './fixtures.js';
import { aSite, describeOutages, nothingIsLost } from './outages.js';
import { WRITES } from './statement-values.js';

describe.each([
  ['MariaDB', startMariaDb, 20],
  ['MySQL', startMysql, 5],
] as const)('a %s of one’s own', (name, startServer, awaySeconds) => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = await startServer({ own: true });
    url = (await createMysqlDatabase(server.url)).url;
  });
  afterAll(() => server.close());

  describeOutages({ name, server: () => server, url: () => url, awaySeconds });

  it('lets a connection be idle for a second: the queue goes on, and a job that takes longer is done once', async () => {
    const site = await aSite(url, { onConnection: 'SET wait_timeout = 1, interactive_timeout = 1', jobMs: 3_000 });
    const id = await site.pusher.push(aJob());
    expect(await site.roundTripMs(60_000)).toBeGreaterThan(3_000);
    await nothingIsLost(site);
    expect(site.ran.filter((one) => one === id).length).toBe(1);
  });

  it('refuses a payload that its max_allowed_packet cannot hold once, and its connection is not used again', async () => {
    await emptyTables(url);
    const root = await mysql.createConnection(server.url);
    await root.query('SET GLOBAL max_allowed_packet = 1048576');
    const pool = aPool(url);
    const driver = new MysqlDriver(pool, { maxPayloadBytes: 3_000_000, callTimeout: 5 });
    try {
      await expect(driver.push(aJob({ payload: { text: 'x'.repeat(2_000_000) } }))).rejects.toThrow();
      expect(await driver.push(aJob())).toBeGreaterThan(0);
      expect(await driver.pending()).toBe(1);
      // A batch of any size goes through: a megabyte is enough for each of its statements.
      await driver.pushMany(Array.from({ length: 1_500 }, () => aJob({ payload: { text: '"é'.repeat(500) } })));
      expect(await driver.pending()).toBe(1_501);
    } finally {
      await root.query('SET GLOBAL max_allowed_packet = 67108864');
      await root.end();
    }
  });
});

describe('a server that logs for replication by statement', () => {
  it('holds none of the statements for unsafe', async () => {
    const server = await startMariaDb({ own: true, settings: { 'log-bin': 'binlog', 'binlog-format': 'STATEMENT' } });
    try {
      const { url } = await createMysqlDatabase(server.url);
      await emptyTables(url);
      // At REPEATABLE READ it logs them; at READ COMMITTED, as the queue's own are, it would refuse them all.
      const connection = await mysql.createConnection(url);
      const warningsOf = async (sql: string) => {
        await connection.query(sql);
        return (await rowsOf(connection, 'SHOW WARNINGS')).map(([, code]) => Number(code));
      };
      for (const [name, sql] of WRITES) expect(await warningsOf(sql), name).toStrictEqual([]);
      const unsafe = 1592;
      expect(await warningsOf("UPDATE queue_jobs SET last_error = 'x' LIMIT 1")).toContain(unsafe);
      await connection.end();
    } finally {
      await server.close();
    }
  });

  it('refuses a claim, and the error says what to do; pushes go through', async () => {
    const server = await startMariaDb({ own: true, settings: { 'log-bin': 'binlog', 'binlog-format': 'STATEMENT' } });
    try {
      const { url } = await createMysqlDatabase(server.url);
      await emptyTables(url);
      const driver = new MysqlDriver(aPool(url));
      await driver.push(aJob());
      await expect(driver.reserve(['default'], 60, 'w')).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('set binlog_format to ROW or MIXED'),
        cause: { errno: 1665 },
      });
      expect(await driver.pending()).toBe(1);
    } finally {
      await server.close();
    }
  });

  it.each(['ROW', 'MIXED'])('%s is fine, and no statement of the queue draws a warning', async (format) => {
    const server = await startMariaDb({ own: true, settings: { 'log-bin': 'binlog', 'binlog-format': format } });
    try {
      const { url } = await createMysqlDatabase(server.url);
      await emptyTables(url);
      const driver = new MysqlDriver(aPool(url));
      for (let n = 0; n < 20; n += 1) {
        await driver.push(aJob());
        const job = await driver.reserve(['default'], 60, 'w');
        expect(job !== null && (n % 2 === 0 ? await driver.delete(job) : await driver.fail(job, 'no'))).toBe(true);
      }
      expect(await driver.retryFailed('all', 3)).toBe(10);
    } finally {
      await server.close();
    }
  });
});
