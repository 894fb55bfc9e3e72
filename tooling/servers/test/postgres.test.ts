import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
// The built package: a supervisor is a program.
import { createPostgresDatabase, type Server, startPostgres } from '@q/servers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let server: Server;
beforeAll(async () => {
  server = await startPostgres({ own: true, settings: { work_mem: '5MB' } });
}, 60_000);
afterAll(() => server.close());

async function query(text: string, url = server.url): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query({ text, rowMode: 'array' })).rows.flat();
  } finally {
    await client.end().catch(() => {});
  }
}

describe('A Postgres', () => {
  test('answers on a port of this machine that is not the standard one, with the settings asked for', async () => {
    expect([server.host, server.port === 5432]).toEqual(['127.0.0.1', false]);
    expect(await query("SELECT current_setting('fsync'), current_setting('work_mem')")).toEqual(['off', '5MB']);
  });

  test.each(['stop', 'kill'] as const)('keeps its data over a %s and a start, on the same port', async (how) => {
    await query(`CREATE TABLE ${how}_kept AS SELECT 42 AS n`);
    await server[how]();
    await expect(query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await server.start();
    expect(await query(`SELECT n FROM ${how}_kept`)).toEqual([42]);
  });

  test('refuses writes while it is read-only, on connections that were there before', async () => {
    const client = new pg.Client(server.url);
    await client.connect();
    await server.readOnly(true);
    await expect(client.query('CREATE TABLE never (n int)')).rejects.toMatchObject({ code: '25006' });
    await server.readOnly(false);
    await client.query('CREATE TABLE now (n int)');
    await client.end();
  });

  test('gives databases that know nothing of each other, and drops one that is in use', async () => {
    const [one, other] = [await createPostgresDatabase(server.url), await createPostgresDatabase(server.url)];
    await query('CREATE TABLE mine (n int)', one.url);
    await expect(query('SELECT * FROM mine', other.url)).rejects.toMatchObject({ code: '42P01' });
    const client = new pg.Client(one.url);
    client.on('error', () => {});
    await client.connect();
    await one.drop();
    await other.drop();
    await expect(query('SELECT 1', one.url)).rejects.toMatchObject({ code: '3D000' });
  });

  test('is gone with its folder when it is closed', async () => {
    const own = await startPostgres({ own: true });
    const [folder] = (await query("SELECT current_setting('data_directory')", own.url)) as [string];
    expect(existsSync(folder)).toBe(true);
    await own.close();
    await own.close();
    expect(existsSync(folder)).toBe(false);
    await expect(query('SELECT 1', own.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test.each(['SIGKILL', 'exit'])('is gone with its folder when the process that started it ends by %s', async (how) => {
    const script = fileURLToPath(new URL('./starts-and-dies.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, how], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await new Promise((resolve) => child.once('close', resolve));
    const [url = '', folder = ''] = said.split('\n');
    for (let tries = 0; existsSync(folder) && tries < 100; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(folder)).toBe(false);
    await expect(query('SELECT 1', url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
