import { Queue, Worker } from '@q/core';
import { type Server, startRedis } from '@q/servers';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisDriver } from '../src/index.js';
import { SCRIPTS } from '../src/scripts.js';
import { aClient, aJob, type Clock, open, pause, until } from './fixtures.js';

// Its own: on one that is shared, the scripts of other files would be seen, and forgotten.
let server: Server;
beforeAll(async () => {
  server = await startRedis({ own: true });
});
afterAll(() => server.close());

/** Everything that can happen to a job, on several queues and levels. */
async function liveThrough(driver: RedisDriver, clock: Clock): Promise<void> {
  const jobs = [0, 1, 2].flatMap((priority) => [
    aJob({ priority, unique: `k${priority}` }),
    aJob({ priority, queue: 'mail', delay: 10, unique: `m${priority}` }),
  ]);
  const ids = await driver.pushMany(jobs);
  await driver.pushMany(jobs.map((job) => ({ ...job, queue: 'elsewhere' })));
  for (const timeout of [10, 60]) {
    const claimed = await driver.reserveMany(['mail', 'default'], 2, timeout, 'w');
    await driver.extendMany(claimed, 20);
    clock.advance(30);
    const [first, second] = claimed;
    if (first !== undefined) await driver.release(first, 0, 'no');
    if (second !== undefined) await driver.fail(second, 'no');
  }
  for (const id of ids) await driver.find(id);
  await driver.findFailed(ids[0] ?? 0);
  await driver.pending();
  await driver.reserve(['mail', 'default'], 10, 'w');
  clock.advance(30);
  for (let job = await driver.reserve(['default', 'mail'], 60, 'w'); job !== null; ) {
    await driver.delete(job);
    job = await driver.reserve(['default', 'mail'], 60, 'w');
  }
}

/** What a server runs, word by word; `by` is an address, or `lua`. */
async function monitored(raw: Redis, work: () => Promise<void>): Promise<{ by: string; words: string[] }[]> {
  const seen: { by: string; words: string[] }[] = [];
  const monitor = await raw.monitor();
  monitor.on('monitor', (_: string, words: string[], by: string) => seen.push({ by, words }));
  await work();
  await raw.echo('the end');
  await until('everything was seen', () => seen.some(({ words }) => words[1] === 'the end'));
  monitor.disconnect();
  return seen;
}

describe('every script', () => {
  it('is taken by the server, and known to it by its SHA', async () => {
    const { raw } = open({ url: server.url });
    for (const { text, sha } of Object.values(SCRIPTS)) expect(await raw.script('LOAD', text)).toBe(sha);
    expect(new Set(Object.values(SCRIPTS).map(({ sha }) => sha)).size).toBe(Object.keys(SCRIPTS).length);
  });

  it('is told of every key before it touches one', async () => {
    const { driver, clock, raw, prefix } = open({ url: server.url });
    const seen = await monitored(raw, async () => {
      await liveThrough(driver, clock);
      const { driver: scratch, [Symbol.asyncDispose]: dispose } = await driver.scratch();
      await scratch.push(aJob());
      await dispose();
    });
    let told = new Set<string>();
    const scripts = new Set<string>();
    let touched = 0;
    for (const { by, words } of seen) {
      const [command = '', sha = '', count] = words;
      if (by !== 'lua') {
        if (/^eval(sha)?$/i.test(command)) {
          told = new Set(words.slice(3, 3 + Number(count)));
          scripts.add(sha);
        }
        continue;
      }
      if (/^(info|time)$/i.test(command)) continue;
      const keys = (await raw.call('COMMAND', 'GETKEYS', ...words)) as string[];
      for (const key of keys) {
        touched += 1;
        expect(told.has(key), `${words.join(' ')} (${prefix})`).toBe(true);
      }
    }
    expect(touched).toBeGreaterThan(300);
    const unseen = Object.entries(SCRIPTS).filter(([, { sha, text }]) => !scripts.has(sha) && !scripts.has(text));
    expect(unseen.map(([name]) => name)).toStrictEqual(['ring']); // of which wakeups.test.ts
  });

  it('asks for the server’s time to tell whether it is still wanted, and for nothing else', () => {
    for (const { text } of Object.values(SCRIPTS)) {
      expect(text.match(/'TIME'|IDLE/g)).toStrictEqual(["'TIME'"]);
      expect(text.match(/serverMs\(\)/g)?.length).toBe(text === SCRIPTS.greet.text ? 3 : 2);
    }
  });

  it('is sent by its SHA, and by its text once where the server has forgotten it', async () => {
    const { driver, raw } = open({ url: server.url });
    await driver.push(aJob());
    await raw.script('FLUSH');
    const seen = await monitored(raw, async () => {
      for (let n = 0; n < 3; n += 1) await driver.push(aJob());
    });
    const sent = seen.filter(({ by }) => by !== 'lua').map(({ words: [command = ''] }) => command.toLowerCase());
    expect(sent.filter((command) => command.startsWith('eval'))).toStrictEqual([
      'evalsha',
      'eval',
      'evalsha',
      'evalsha',
    ]);
    expect(await driver.pending()).toBe(4);
  });
});

describe('a server that forgets its scripts before every third call', () => {
  it('runs a hundred jobs once each', async () => {
    const { driver, raw } = open({ url: server.url, now: () => new Date() });
    let calls = 0;
    const forgetful = new Proxy(driver, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          calls += 1;
          if (calls % 3 === 0) await raw.script('FLUSH');
          return value.apply(target, args);
        };
      },
    });
    const ran: number[] = [];
    const handlers = { a: { handle: async (_: object, job: { readonly id: number }) => ran.push(job.id) } };
    const queue = new Queue({ driver: forgetful, handlers });
    const ids: number[] = [];
    for (let n = 0; n < 100; n += 1) ids.push(await queue.push('a', {}));
    await new Worker({ queue, concurrency: 4, stopWhenEmpty: true }).run();
    expect(ran.toSorted((a, b) => a - b)).toStrictEqual(ids);
    expect(calls).toBeGreaterThan(150);
  });
});

it('the application’s client is asked for another one, and for nothing else', async () => {
  const client = aClient(server.url, { lazyConnect: true });
  const asked: PropertyKey[] = [];
  const template = new Proxy(client, {
    get(target, key) {
      asked.push(key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { driver, clock } = open({ url: server.url, template });
  await driver.onPush(['default'], () => {});
  await liveThrough(driver, clock);
  await pause(10);
  await driver.close();
  expect([...new Set(asked)].toSorted()).toStrictEqual(['duplicate', 'isCluster']);
  expect(client.status).toBe('wait');
});
