import { existsSync } from 'node:fs';
// The built package: a supervisor is a program.
import { redisCall, type Server, startRedis } from '@q/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let server: Server;
beforeAll(async () => {
  server = await startRedis({ own: true, settings: { 'maxmemory-policy': 'allkeys-lru' } });
}, 60_000);
afterAll(() => server.close());

const call = (...words: readonly [string, ...string[]]) => redisCall(server.url, ...words);

describe('A Redis', () => {
  test('answers on a port of this machine that is not the standard one, with the settings asked for', async () => {
    expect([server.host, server.port === 6379]).toEqual(['127.0.0.1', false]);
    expect(await call('CONFIG', 'GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'allkeys-lru']);
  });

  test.each(['stop', 'kill'] as const)('keeps its data over a %s and a start, on the same port', async (how) => {
    await call('SET', how, '42');
    await server[how]();
    await expect(call('PING')).rejects.toThrow();
    await server.start();
    expect(await call('GET', how)).toBe('42');
  });

  test('keeps nothing where it was told to', async () => {
    const own = await startRedis({ own: true, settings: { appendonly: 'no' } });
    await redisCall(own.url, 'SET', 'a', '1');
    await own.restart();
    expect(await redisCall(own.url, 'GET', 'a')).toBeNull();
    await own.close();
  });

  test('refuses writes while it is read-only, and has lost nothing afterwards', async () => {
    await call('SET', 'before', '1');
    await server.readOnly(true);
    await expect(call('SET', 'never', '1')).rejects.toThrow('READONLY');
    await server.readOnly(false);
    expect([await call('SET', 'now', '1'), await call('GET', 'before')]).toEqual(['OK', '1']);
  });

  test('is gone with its folder when it is closed', async () => {
    const own = await startRedis({ own: true });
    const [, folder] = (await redisCall(own.url, 'CONFIG', 'GET', 'dir')) as [string, string];
    expect(existsSync(folder)).toBe(true);
    await own.close();
    await own.close();
    expect(existsSync(folder)).toBe(false);
    await expect(redisCall(own.url, 'PING')).rejects.toThrow();
  });
});
