import { once } from 'node:events';
import net from 'node:net';
import { inspect } from 'node:util';
import { startRedis } from '@q/servers';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aClient, aclOf, aJob, aUserOf, open, refusalOf } from './fixtures.js';

/** A server that answers what a client asks at first, and says that it is of this version. */
async function aServerOf(version: string): Promise<string> {
  const info = `redis_version:${version}\r\nmaxmemory_policy:noeviction\r\nloading:0\r\n`;
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  const answers: Readonly<Record<string, string>> = {
    hello: '-ERR unknown command `HELLO`\r\n',
    info: bulk(info),
    evalsha: '-NOSCRIPT No matching script. Please use EVAL.\r\n',
    eval: `*2\r\n${bulk('1700000000000')}${bulk(info)}`,
  };
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const [, command = ''] of text.matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r\n/gm)) {
        socket.write(answers[command.toLowerCase()] ?? '+OK\r\n');
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
  });
  // The cast: a TCP server that listens has an address with a port.
  return `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

async function aServer(settings: Readonly<Record<string, string>> = {}) {
  const server = await startRedis({ own: true, settings });
  onTestFinished(() => server.close());
  return server.url;
}

describe('a Redis before 6.2', () => {
  it.each(['5.0.14', '6.0.16', '2.8.19'])('is refused at its first use, by what it is: %s', async (version) => {
    const { driver } = open({ via: await aServerOf(version) });
    for (const call of [driver.push(aJob()), driver.reserve(['default'], 60, 'w'), driver.pending()]) {
      const error = await refusalOf(call);
      expect(error).toMatchObject({ code: 'store_unavailable' });
      expect(String(error)).toContain(`RedisDriver needs Redis 6.2 or later; this server is ${version}`);
    }
  });
});

describe('an eviction policy', () => {
  it('that throws jobs away is warned of, once for a driver and not for each connection', async () => {
    const { driver, raw, warnings } = open({ url: await aServer({ 'maxmemory-policy': 'allkeys-lru' }) });
    for (let n = 0; n < 3; n += 1) {
      await driver.push(aJob());
      await raw.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    expect(warnings.map(({ code }) => code)).toStrictEqual(['eviction_policy']);
    expect(warnings[0]?.message).toContain('The eviction policy of this Redis is allkeys-lru');
  });

  it('of noeviction is as it should be', async () => {
    const { driver, warnings } = open({ url: inject('redis') });
    await driver.push(aJob());
    expect(warnings).toStrictEqual([]);
  });
});

describe('a Redis whose memory is used up', () => {
  it('refuses a push and says so, while what is there is reserved, renewed, released, failed and done', async () => {
    const { driver, raw, stored, clock } = open({ url: await aServer() });
    await driver.pushMany(Array.from({ length: 3 }, (_, n) => aJob({ unique: `k${n}` })));
    await driver.pushMany([aJob({ queue: 'later', delay: 5 }), aJob({ queue: 'gone' })]);
    const dead = await driver.reserve(['gone'], 1, 'w');
    clock.advance(5);
    await raw.config('SET', 'maxmemory', '1mb');
    const before = await stored.jobs();
    for (const push of [
      driver.push(aJob()),
      driver.push(aJob({ unique: 'new', delay: 5 })),
      driver.pushMany([aJob()]),
    ]) {
      const error = await refusalOf(push);
      expect(error).toMatchObject({ code: 'store_unavailable', cause: { name: 'ReplyError' } });
      expect(String(error)).toContain('Redis has used up its memory (maxmemory), so nothing was stored');
    }
    expect(await stored.jobs()).toStrictEqual(before);
    const [first, second, third] = await driver.reserveMany(['default'], 3, 60, 'w');
    if (first === undefined || second === undefined || third === undefined) throw new Error('they are there');
    expect(await driver.extend(first, 120)).toBe(true);
    expect(await driver.delete(first)).toBe(true);
    expect(await driver.release(second, 0, 'no')).toBe(true);
    expect(await driver.fail(third, 'no')).toBe(true);
    expect((await driver.reserve(['default'], 60, 'w'))?.id).toBe(second.id);
    expect((await driver.reserve(['later'], 60, 'w'))?.attempts).toBe(1);
    expect(await driver.reserve(['gone'], 60, 'w')).toMatchObject({ id: dead?.id, attempts: 2, reclaimed: true });
    await raw.config('SET', 'maxmemory', '0');
    expect(await driver.push(aJob({ unique: 'k0' }))).toBe(6);
  });
});

describe('an error of Redis’s', () => {
  it('shows neither the payload of the call nor the password, however it is printed', async () => {
    const url = await aServer();
    const raw = aClient(url);
    await raw.config('SET', 'requirepass', 'the-password');
    await raw.config('SET', 'maxmemory', '1mb');
    const known = open({ url, template: aClient(url, { password: 'the-password', lazyConnect: true }) });
    const wrong = open({ url, template: aClient(url, { password: 'wrong-password', lazyConnect: true }) });
    const errors = [
      await refusalOf(known.driver.push(aJob({ payload: { text: 'the-payload' } }))),
      await refusalOf(wrong.driver.push(aJob({ payload: { text: 'the-payload' } }))),
    ];
    expect(errors.map((error) => /OOM|WRONGPASS/.exec(inspect(error))?.[0])).toStrictEqual(['OOM', 'WRONGPASS']);
    await raw.config('SET', 'maxmemory', '0');
    await raw.set(known.stored.key('ready:0:default'), 'what no stream is');
    errors.push(await refusalOf(known.driver.push(aJob({ payload: { text: 'the-payload' } }))));
    expect(String(errors[2])).toContain('WRONGTYPE');
    for (const error of errors) {
      const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null });
      expect(shown).not.toMatch(/the-payload|the-password|wrong-password/);
    }
  });
});

describe('a user that may do what the README says and nothing else', () => {
  it('is enough for everything', async () => {
    const url = await aServer();
    const { raw, prefix, clock } = open({ url });
    await raw.call('ACL', 'SETUSER', 'queue', 'on', '>secret', ...aclOf(prefix));
    const { driver, warnings } = open({ url, prefix, template: aUserOf(url) });
    let woken = 0;
    await driver.onPush(['default'], () => {
      woken += 1;
    });
    const id = await driver.push(aJob({ unique: 'k' }));
    await driver.push(aJob({ delay: 5 }));
    const [job] = await driver.reserveMany(['default'], 5, 60, 'w');
    expect(job?.id).toBe(id);
    if (job === undefined) throw new Error('it is there');
    expect(await driver.extend(job, 60)).toBe(true);
    expect(await driver.release(job, 0, 'no')).toBe(true);
    clock.advance(5);
    const again = await driver.reserve(['default'], 60, 'w');
    if (again === null) throw new Error('it is there');
    expect(await driver.fail(again, 'no')).toBe(true);
    expect((await driver.findFailed(id))?.error).toBe('no');
    expect([await driver.pending(), warnings, woken > 0]).toStrictEqual([0, [], true]);
    expect(
      String(await refusalOf(open({ url, prefix: 'other', template: aUserOf(url) }).driver.push(aJob()))),
    ).toContain('NOPERM');
  });
});
