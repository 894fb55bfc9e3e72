import { once } from 'node:events';
import net from 'node:net';
import { startRedis, startRelay } from '@q/servers';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { RedisDriver } from '../src/index.js';
import { aClient, aJob, codeOf, connectionsTo, open, pause, refusalOf, until } from './fixtures.js';

/** A relay to the shared server, or to one of a test's own. */
async function aRelay(url = inject('redis')) {
  const relay = await startRelay(url);
  onTestFinished(() => relay.close());
  return relay;
}

async function aServer(settings: Readonly<Record<string, string>> = {}) {
  const server = await startRedis({ own: true, settings });
  onTestFinished(() => server.close());
  return server;
}

/** A relay that can swallow what the server answers, from the first time on that this is sent if not before. */
async function aMutedRelay(url: string, swallowsAfter: string | null = null) {
  const target = new URL(url);
  const sockets = new Set<net.Socket>();
  let isMuted = false;
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    near.on('data', (data) => {
      if (swallowsAfter !== null && data.includes(swallowsAfter)) isMuted = true;
      far.write(data);
    });
    far.on('data', (data) => isMuted || near.write(data));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    isMuted = false;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  // The cast: a TCP server that listens has an address with a port.
  const { port } = server.address() as net.AddressInfo;
  const mute = () => {
    isMuted = true;
  };
  return { url: `redis://127.0.0.1:${port}`, mute, cut };
}

describe('a push while Redis is away', () => {
  it('is refused at once, and is not there when Redis is back', async () => {
    const server = await aServer();
    const { driver, stored } = open({ url: server.url });
    await server.stop();
    const start = performance.now();
    expect(await codeOf(driver.push(aJob()))).toBe('store_unavailable');
    expect(await codeOf(driver.reserve(['default'], 60, 'w'))).toBe('store_unavailable');
    expect(performance.now() - start).toBeLessThan(10_000);
    await server.start();
    await pause(200);
    expect(await stored.keys()).toStrictEqual([]);
    expect(await driver.push(aJob())).toBe(1);
  });

  it('says who refused it', async () => {
    const driver = new RedisDriver(aClient('redis://127.0.0.1:1', { lazyConnect: true }));
    const error = await refusalOf(driver.push(aJob()));
    expect(String(error)).toBe('QueueError: Redis cannot be reached; nothing was sent');
    expect((error as Error).cause).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('a connection that has fallen silent', () => {
  it('is given up after callTimeout, and what was pushed on it is not sent later', async () => {
    const relay = await aRelay();
    const { driver, stored } = open({ via: relay.url, callTimeout: 1 });
    await driver.push(aJob());
    relay.freeze();
    const start = performance.now();
    const calls = [driver.push(aJob()), driver.pushMany([aJob(), aJob()]), driver.push(aJob({ delay: 5 }))];
    const [first, ...others] = await Promise.all(calls.map(codeOf));
    expect(first).toBe('call_timeout');
    // Whichever is late first takes the connection along.
    for (const other of others) expect(['call_timeout', 'outcome_unknown']).toContain(other);
    expect(performance.now() - start).toBeLessThan(10_000);
    relay.thaw();
    await pause(300);
    expect((await stored.jobs()).map(({ id }) => id)).toStrictEqual([1]);
    expect(await driver.push(aJob())).toBe(2);
  });

  it('while it is made is given up as well: nothing was sent', async () => {
    const relay = await aRelay();
    relay.freeze();
    const { driver, stored } = open({ via: relay.url, callTimeout: 1 });
    expect(await codeOf(driver.push(aJob()))).toBe('store_unavailable');
    relay.thaw();
    await pause(300);
    expect(await stored.keys()).toStrictEqual([]);
    expect(await driver.push(aJob())).toBe(1);
  });
});

describe('a connection that falls silent before the first call is sent on it', () => {
  it('leaves no doubt about the call: it was not sent', async () => {
    const { url } = await aMutedRelay(inject('redis'), 'evalsha');
    const { driver, stored } = open({ via: url, callTimeout: 1 });
    expect(await codeOf(driver.push(aJob()))).toBe('store_unavailable');
    await pause(50);
    expect(await stored.keys()).toStrictEqual([]);
  });
});

describe('a server that is stopped in the middle', () => {
  it('runs nothing afterwards that was given up meanwhile', async () => {
    const server = await aServer();
    const { driver, raw, stored } = open({ url: server.url, callTimeout: 1 });
    await driver.push(aJob({ queue: 'waiting' }));
    const pid = Number(/process_id:(\d+)/.exec(await raw.info('server'))?.[1]);
    process.kill(pid, 'SIGSTOP');
    // What is sent now waits in the buffers of the system, and is there when the server goes on.
    const calls = [
      driver.push(aJob()),
      driver.reserve(['waiting'], 60, 'w'),
      driver.pushMany([aJob(), aJob({ delay: 9 })]),
    ];
    const codes = await Promise.all(calls.map((call) => codeOf(call)));
    // The first to be late takes the connection, and the others with it, whose own second is not over by then.
    await pause(1_000);
    process.kill(pid, 'SIGCONT');
    expect(codes).toContain('call_timeout');
    await pause(200);
    expect((await stored.jobs()).map(({ id, attempts }) => [id, attempts])).toStrictEqual([[1, 0]]);
    expect(await driver.push(aJob())).toBe(2);
  });

  it('or whose clock was set, is asked for its time, and nothing is refused', async () => {
    const { driver, stored } = open({ callTimeout: 5 });
    expect(await driver.push(aJob())).toBe(1);
    const now = performance.now.bind(performance);
    // As after the sleep of a machine whose stopwatch slept, too.
    const stopwatch = vi.spyOn(performance, 'now').mockImplementation(() => now() - 3_600_000);
    onTestFinished(() => stopwatch.mockRestore());
    const ids = await Promise.all(Array.from({ length: 20 }, () => driver.push(aJob())));
    expect(new Set(ids).size).toBe(20);
    expect((await stored.jobs()).length).toBe(21);
  });
});

describe('a connection that breaks', () => {
  it('before the answer leaves the outcome unknown, and the next call makes another', async () => {
    const relay = await aRelay();
    const { driver, stored } = open({ via: relay.url });
    await driver.push(aJob());
    relay.freeze();
    const call = codeOf(driver.push(aJob()));
    await pause(50);
    relay.cut();
    expect(await call).toBe('outcome_unknown');
    relay.thaw();
    await driver.push(aJob());
    expect((await stored.jobs()).length).toBe(2);
  });

  it('after Redis has run the call leaves the outcome unknown, and what was done is done', async () => {
    const muted = await aMutedRelay(inject('redis'));
    const { driver, stored } = open({ via: muted.url });
    await driver.pushMany([aJob(), aJob()]);
    const [first, job] = await driver.reserveMany(['default'], 2, 60, 'w');
    if (first === undefined || job === undefined) throw new Error('they are there');
    // Twice, so that the server knows the script, and one message is enough.
    expect(await driver.delete(first)).toBe(true);
    muted.mute();
    const call = codeOf(driver.delete(job));
    await until('Redis has run it', async () => (await stored.keys()).length === 1);
    muted.cut();
    expect(await call).toBe('outcome_unknown');
    expect(await driver.delete(job)).toBe(false);
  });

  it('while it is idle costs nothing: twenty times in a row the next push is stored', async () => {
    const server = await aServer();
    const { driver, raw } = open({ url: server.url });
    for (let round = 1; round <= 20; round += 1) {
      expect(await driver.push(aJob())).toBe(round);
      await raw.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await pause(5);
    }
  });
});

describe('a node that takes no writes', () => {
  it('is left at once: the connection is made anew, and works when the node does', async () => {
    const server = await aServer();
    const { driver, raw } = open({ url: server.url });
    await driver.push(aJob());
    const [before] = (await connectionsTo(raw)).filter(({ cmd }) => cmd === 'evalsha');
    await server.readOnly(true);
    const error = await refusalOf(driver.push(aJob()));
    expect(error).toMatchObject({ code: 'store_unavailable', cause: { name: 'ReplyError' } });
    expect(String(error)).toContain('it is a replica now. Nothing was done');
    expect((await connectionsTo(raw)).map(({ id }) => id)).not.toContain(before?.id);
    expect(await codeOf(driver.reserve(['default'], 60, 'w'))).toBe('store_unavailable');
    await server.readOnly(false);
    expect((await driver.reserve(['default'], 60, 'w'))?.id).toBe(1);
    expect(await driver.push(aJob())).toBe(2);
  });

  it('and serves no stale data says MASTERDOWN, which is the same', async () => {
    const server = await aServer({ 'replica-serve-stale-data': 'no' });
    const { driver } = open({ url: server.url });
    await driver.push(aJob());
    await server.readOnly(true);
    const error = await refusalOf(driver.pending());
    expect(String(error)).toContain('lost its master. Nothing was done');
    await server.readOnly(false);
    expect(await driver.pending()).toBe(1);
  });
});
