// What a server of the family has to do as a throw-away, whichever it is.
import { createMysqlDatabase, type Server, type StartOptions } from '@q/servers';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

async function query(url: string, sql: string): Promise<unknown[]> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 2_000 });
  connection.on('error', () => {});
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>({ sql, rowsAsArray: true });
    return Array.isArray(rows) ? rows.flat() : [];
  } finally {
    connection.destroy();
  }
}

export function describeFamily(name: string, version: RegExp, start: (options: StartOptions) => Promise<Server>): void {
  describe(name, () => {
    let server: Server;
    let url: string;
    beforeAll(async () => {
      server = await start({ own: true, settings: { 'wait-timeout': '12345' } });
      url = (await createMysqlDatabase(server.url)).url;
    }, 600_000);
    afterAll(() => server.close());

    test('answers on a port of this machine that is not the standard one, with the settings asked for', async () => {
      expect([server.host, server.port === 3306]).toEqual(['127.0.0.1', false]);
      const [found, timeout] = await query(server.url, 'SELECT version(), @@global.wait_timeout');
      expect([version.test(String(found)), Number(timeout)]).toEqual([true, 12_345]);
    });

    test.each(['stop', 'kill'] as const)(
      'keeps its data over a %s and a start, on the same port',
      async (how) => {
        await query(url, `CREATE TABLE ${how}_kept (n int) ENGINE=InnoDB`);
        await query(url, `INSERT INTO ${how}_kept VALUES (42)`);
        await server[how]();
        await expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
        await server.start();
        expect(await query(url, `SELECT n FROM ${how}_kept`)).toEqual([42]);
      },
      60_000,
    );

    test('refuses writes while it is read-only, on connections that were there before', async () => {
      const connection = await mysql.createConnection(url);
      await connection.query('CREATE TABLE written (n int) ENGINE=InnoDB');
      await server.readOnly(true);
      await expect(connection.query('INSERT INTO written VALUES (1)')).rejects.toMatchObject({ errno: 1290 });
      await server.readOnly(false);
      await connection.query('INSERT INTO written VALUES (1)');
      await connection.end();
    });

    test('gives databases that know nothing of each other, and drops them', async () => {
      const [one, other] = [await createMysqlDatabase(server.url), await createMysqlDatabase(server.url)];
      await query(one.url, 'CREATE TABLE mine (n int)');
      const { pathname } = new URL(one.url);
      await expect(query(other.url, `SELECT * FROM ${pathname.slice(1)}.mine`)).rejects.toMatchObject({ errno: 1142 });
      await one.drop();
      await other.drop();
      await expect(query(one.url, 'SELECT 1')).rejects.toThrow();
    });
  });
}
