import { Queue, Worker } from '@q/core';
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { RedisDriver } from '../src/index.js';
import { SCRIPTS } from '../src/scripts.js';
import { aClient, aJob, type Clock, open, pause, until } from './fixtures.js';

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
    const { raw } = open();
    for (const { text, sha } of Object.values(SCRIPTS)) expect(await raw.script('LOAD', text)).toBe(sha);
    expect(new Set(Object.values(SCRIPTS).map(({ sha }) => sha)).size).toBe(Object.keys(SCRIPTS).length);
  });

  it('is told of every key before it touches one', async () => {
    const { driver, clock, raw, prefix } = open();
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
      if (/^(info|pcall)$/i.test(command)) continue;
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
    const { driver, raw } = open();
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
    const { driver, raw } = open({ now: () => new Date() });
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

describe('a big number', () => {
  it.each([2 ** 31 + 5, 10 ** 15 + 1, Number.MAX_SAFE_INTEGER - 1])('is an id, exactly: %d', async (counter) => {
    const { driver, raw, stored, clock } = open();
    await raw.set(stored.key('id'), String(counter));
    const id = await driver.push(aJob({ unique: 'k' }));
    expect(id).toBe(counter + 1);
    expect(await driver.push(aJob({ unique: 'k' }))).toBe(id);
    expect((await driver.find(id))?.state).toBe('pending');
    const job = await driver.reserve(['default'], 10, 'w');
    expect(job?.id).toBe(id);
    clock.advance(10);
    const again = await driver.reserve(['default'], 10, 'w');
    expect([again?.id, again?.attempts]).toStrictEqual([id, 2]);
    if (again === null) throw new Error('it is there');
    expect(await driver.extend(again, 60)).toBe(true);
    expect(await driver.release(again, 0, '')).toBe(true);
    const last = await driver.reserve(['default'], 10, 'w');
    expect(last?.id).toBe(id);
    expect(await driver.fail(last ?? again, 'no')).toBe(true);
    expect((await driver.findFailed(id))?.id).toBe(id);
    expect(await raw.get(stored.key('id'))).toBe(String(id));
  });

  it('that no JavaScript number can hold is no id: the push is refused, and nothing stored', async () => {
    const { driver, raw, stored } = open();
    for (const counter of ['9007199254740991', '9007199254741003']) {
      await raw.set(stored.key('id'), counter);
      await expect(driver.push(aJob({ unique: 'k' }))).rejects.toMatchObject({ code: 'id_out_of_range' });
      await expect(driver.push(aJob({ delay: 5 }))).rejects.toMatchObject({ code: 'id_out_of_range' });
      expect(await stored.keys()).toStrictEqual([stored.key('id')]);
      expect(await raw.get(stored.key('id'))).toBe(counter);
    }
    await raw.set(stored.key('id'), String(Number.MAX_SAFE_INTEGER - 2));
    await expect(driver.pushMany([aJob(), aJob(), aJob()])).rejects.toMatchObject({ code: 'id_out_of_range' });
    expect(await driver.pushMany([aJob(), aJob()])).toStrictEqual([
      Number.MAX_SAFE_INTEGER - 1,
      Number.MAX_SAFE_INTEGER,
    ]);
  });
});

describe('a large batch', () => {
  it('is pushed, claimed, extended and deleted beyond what Lua can unpack', async () => {
    const { driver, clock } = open();
    const ids = await driver.pushMany(
      Array.from({ length: 9_000 }, (_, n) => aJob({ unique: n % 2 ? null : `k${n}` })),
    );
    expect(new Set(ids).size).toBe(9_000);
    const jobs = await driver.reserveMany(['default'], 9_000, 60, 'w');
    expect(jobs.length).toBe(9_000);
    expect(await driver.extendMany(jobs, 120)).toStrictEqual([]);
    clock.advance(60);
    expect(await driver.pending()).toBe(0);
    expect(await driver.deleteMany(jobs)).toStrictEqual([]);
  });

  it('of delayed jobs that are due at once is claimed whole', async () => {
    const { driver, clock } = open();
    await driver.pushMany(Array.from({ length: 9_000 }, () => aJob({ delay: 5 })));
    clock.advance(5);
    expect(await driver.pending()).toBe(9_000);
    expect((await driver.reserveMany(['default'], 9_000, 60, 'w')).length).toBe(9_000);
  });

  it('on a thousand levels is claimed in their order', async () => {
    const { driver, another } = open();
    await driver.pushMany(Array.from({ length: 1_000 }, (_, n) => aJob({ priority: (n * 7) % 1_000, payload: [n] })));
    const other = another();
    expect(await other.pending()).toBe(1_000);
    const jobs = await other.reserveMany(['default'], 1_000, 60, 'w');
    // The cast: what was pushed above.
    const priorities = jobs.map(({ payload }) => (((payload as number[])[0] ?? 0) * 7) % 1_000);
    expect(priorities).toStrictEqual(Array.from({ length: 1_000 }, (_, n) => 999 - n));
    expect(await other.deleteMany(jobs)).toStrictEqual([]);
  });

  it('larger than one command may be is refused before anything is sent', async () => {
    const { driver, stored } = open({ maxPayloadBytes: 2 ** 24 });
    const large = aJob({ payload: { text: 'x'.repeat(2 ** 24 - 20) } });
    await expect(driver.pushMany(Array(17).fill(large))).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await stored.keys()).toStrictEqual([]);
  });
});

describe('a backlog of delayed jobs', () => {
  it('is promoted a hundred at a time, and holds up nobody', async () => {
    const { driver, clock, raw, stored } = open();
    await driver.pushMany(Array.from({ length: 1_000 }, () => aJob({ delay: 5 })));
    await driver.push(aJob({ priority: -1 }));
    clock.advance(5);
    await driver.reserve(['default'], 60, 'w');
    expect(await raw.zcard(stored.key('delayed:0:default'))).toBe(900);
    expect(await raw.xlen(stored.key('ready:0:default'))).toBe(100);
    expect(await driver.pending()).toBe(1_000);
  });

  it('goes on behind what is due already, which does not keep it waiting', async () => {
    const { driver, clock } = open();
    const delayed = await driver.push(aJob({ delay: 5 }));
    clock.advance(10);
    const first = await driver.push(aJob());
    const order = [];
    for (let n = 0; n < 3; n += 1) {
      const job = await driver.reserve(['default'], 60, 'w');
      if (job !== null) order.push(job.id);
      if (n === 0) await driver.push(aJob());
    }
    expect(order).toStrictEqual([first, delayed, delayed + 2]);
  });
});

it('the application’s client is asked for another one, and for nothing else', async () => {
  const client = aClient(undefined, { lazyConnect: true });
  const asked: PropertyKey[] = [];
  const template = new Proxy(client, {
    get(target, key) {
      asked.push(key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { driver, clock } = open({ template });
  await driver.onPush(['default'], () => {});
  await liveThrough(driver, clock);
  await pause(10);
  await driver.close();
  expect([...new Set(asked)].toSorted()).toStrictEqual(['duplicate', 'isCluster']);
  expect(client.status).toBe('wait');
});
