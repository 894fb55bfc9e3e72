import type { Finding } from '@q/core';
import { startRedis } from '@q/servers';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aClient, open } from './fixtures.js';

const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level !== 'ok').map(({ level, code, message }) => [level, code, message].join(': '));

/** One with an append-only file, so that what is wrong with it is what its settings are. */
async function aServer(settings: Readonly<Record<string, string>> = {}) {
  const server = await startRedis({ own: true, settings: { appendonly: 'yes', appendfsync: 'no', ...settings } });
  onTestFinished(() => server.close());
  return server;
}

describe('the diagnosis of Redis', () => {
  it('of a server that is well finds nothing wrong, and tells what it looked at', async () => {
    const { driver } = open({ url: (await aServer()).url, now: () => new Date() });
    const findings = await driver.diagnose();
    expect(findings.map(({ level, code }) => `${level} ${code}`)).toStrictEqual([
      ...['ok server_version', 'ok eviction_policy', 'ok persistence', 'ok read_only', 'ok clock'],
    ]);
    expect(findings[0]?.message).toMatch(/^Redis \d+\.\d+/);
  });

  it.each([
    [
      'allkeys-lru',
      'error: eviction_policy: The eviction policy is allkeys-lru, so jobs are thrown away when the memory is used up',
    ],
    [
      'volatile-ttl',
      "warning: eviction_policy: The eviction policy is volatile-ttl; it leaves the queue's keys alone, as they never expire",
    ],
  ])('says that the eviction policy is %s', async (policy, expected) => {
    const { driver } = open({ url: (await aServer({ 'maxmemory-policy': policy })).url, now: () => new Date() });
    expect(wrong(await driver.diagnose())).toStrictEqual([expected]);
  });

  it('says that there is no append-only file', async () => {
    const { driver } = open({ url: (await aServer({ appendonly: 'no' })).url, now: () => new Date() });
    expect(wrong(await driver.diagnose())).toStrictEqual([
      'warning: persistence: There is no append-only file, so a crash of the server loses what was pushed since its last snapshot',
    ]);
  });

  it('says that the server is a replica', async () => {
    const server = await aServer();
    await server.readOnly(true);
    const { driver } = open({ url: server.url, now: () => new Date() });
    expect(wrong(await driver.diagnose())).toStrictEqual([
      'error: read_only: The server is a replica, and takes no writes',
    ]);
  });

  it('says that the clocks differ', async () => {
    const { driver } = open({ url: inject('redis'), now: () => new Date(Date.now() + 90_000) });
    expect(wrong(await driver.diagnose())).toContain(
      "warning: clock: The server's clock is 90 s behind that of this process",
    );
  });

  it('says that the user may not ask', async () => {
    const { url } = await aServer();
    await aClient(url).call('ACL', 'SETUSER', 'clerk', 'on', '>secret', '~*', '+@all', '-info');
    const template = aClient(url, {
      username: 'clerk',
      password: 'secret',
      lazyConnect: true,
      enableReadyCheck: false,
    });
    const { driver } = open({ url, template, now: () => new Date() });
    expect(wrong(await driver.diagnose())).toStrictEqual([
      'warning: server_version: The server does not say what it is, since this user may not ask (INFO)',
    ]);
  });

  it('leaves nothing in the store, and no connection when the driver is closed', async () => {
    const { url } = await aServer();
    const { driver, raw } = open({ url, now: () => new Date() });
    await driver.diagnose();
    await driver.close();
    expect(await raw.dbsize()).toBe(0);
    await expect
      .poll(
        async () =>
          String(await raw.call('CLIENT', 'LIST'))
            .trim()
            .split('\n').length,
        { timeout: 10_000 },
      )
      .toBe(1);
  });
});
