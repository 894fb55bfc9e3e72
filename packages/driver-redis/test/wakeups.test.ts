import { randomBytes } from 'node:crypto';
import { startRedis } from '@q/servers';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { RedisDriver } from '../src/index.js';
import { aClient, aclOf, aJob, aUserOf, connectionsTo, open, pause, until } from './fixtures.js';

/** A driver that waits for pushes, and how often it was woken. */
async function listening(driver: RedisDriver, queues = ['default']) {
  const heard = { count: 0 };
  const subscription = await driver.onPush(queues, () => {
    heard.count += 1;
  });
  heard.count = 0; // once when it begins: what was rung before is not known
  return { heard, subscription };
}

describe('a push', () => {
  it('wakes one of those who wait, and the next push another', async () => {
    const { driver, another } = open();
    const waiting: Awaited<ReturnType<typeof listening>>[] = [];
    for (let n = 0; n < 3; n += 1) waiting.push(await listening(another()));
    const counts = () => waiting.map(({ heard }) => heard.count);
    for (let n = 1; n <= 3; n += 1) {
      await driver.push(aJob());
      await until('one is woken', () => counts().reduce((sum, count) => sum + count, 0) === n);
      await pause(30);
    }
    expect(counts()).toStrictEqual([1, 1, 1]);
  });

  it('while nobody waits wakes the next one who does, once for many', async () => {
    const { driver, another, raw, stored } = open();
    for (let n = 0; n < 5; n += 1) await driver.push(aJob());
    expect(await raw.zcard(stored.key('bell:default'))).toBe(1);
    let woken = 0;
    await another().onPush(['default'], () => {
      woken += 1;
    });
    await until('woken', () => woken === 2);
    await pause(50);
    expect([woken, await raw.exists(stored.key('bell:default'))]).toStrictEqual([2, 0]);
  });

  it('of many jobs wakes one after the other, as long as there are more', async () => {
    const { driver, another } = open();
    const ran: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const worker = another();
      const look = async () => {
        const [job] = await worker.reserveMany(['default'], 1, 60, `w${n}`);
        if (job !== undefined) ran.push(job.id);
      };
      await worker.onPush(['default'], () => void look());
    }
    await pause(100);
    const ids = await driver.pushMany([aJob(), aJob(), aJob(), aJob({ priority: -3 })]);
    await until('all are claimed', () => ran.length === 4);
    expect(ran.toSorted()).toStrictEqual(ids);
  });

  it('that a worker hears which has all it can do wakes another, and the worker too', async () => {
    const { driver, another } = open();
    const busy = another();
    const idle = another();
    const first = await listening(busy);
    await driver.push(aJob());
    await until('the first is woken', () => first.heard.count === 1);
    expect(await busy.reserveMany(['default'], 1, 60, 'w')).toHaveLength(1);
    const second = await listening(idle);
    await driver.push(aJob());
    await until('both are woken', () => first.heard.count === 2 && second.heard.count === 1);
  });

  it('of a delayed job, or under a key that is held, wakes nobody', async () => {
    const { driver, another, raw, stored } = open();
    await driver.push(aJob({ unique: 'k', delay: 5 }));
    const { heard } = await listening(another());
    await driver.push(aJob({ unique: 'k' }));
    await driver.pushMany([aJob({ delay: 1 }), aJob({ queue: 'other' })]);
    await pause(100);
    expect([heard.count, await raw.exists(stored.key('bell:default'))]).toStrictEqual([0, 0]);
  });

  it('leaves no bell behind once its queue is empty, not even one that was passed on too late', async () => {
    const { driver, another, stored } = open();
    await driver.pushMany([aJob(), aJob({ queue: 'mail' })]);
    const jobs = await driver.reserveMany(['default', 'mail'], 2, 60, 'w');
    const { subscription } = await listening(another(), ['mail']);
    expect(await driver.deleteMany(jobs)).toStrictEqual([]);
    const busy = another();
    const { heard } = await listening(busy);
    await driver.push(aJob());
    await until('woken', () => heard.count === 1);
    const [job] = await busy.reserveMany(['default'], 1, 60, 'w');
    if (job === undefined) throw new Error('it is there');
    await busy.delete(job);
    await driver.push(aJob());
    const [next] = await driver.reserveMany(['default'], 1, 60, 'w');
    if (next !== undefined) await driver.delete(next);
    await pause(50);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
    await subscription[Symbol.asyncDispose]();
  });
});

/** A driver whose connections are told apart from everybody else's, and those of them that wait. */
function told(url = inject('redis')) {
  const connectionName = `test_${randomBytes(6).toString('hex')}`;
  const opened = open({ url, template: aClient(url, { lazyConnect: true, connectionName }) });
  const waiting = async () => {
    return (await connectionsTo(opened.raw)).filter(
      ({ name, flags }) => name === connectionName && flags?.includes('b'),
    );
  };
  return { ...opened, waiting };
}

describe('the connection that waits', () => {
  it('is there while somebody wants to know, one for all', async () => {
    const { driver, waiting } = told();
    const first = await driver.onPush(['default'], () => {});
    const second = await driver.onPush(['default'], () => {});
    const third = await driver.onPush(['other', 'default'], () => {});
    await until('one waits', async () => (await waiting()).length === 1);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await pause(20);
    expect((await waiting()).length).toBe(1);
    await third[Symbol.asyncDispose]();
    await until('none does', async () => (await waiting()).length === 0);
  });

  it('that is killed twenty times is made anew each time, and there is never more than one', async () => {
    const { driver, another, raw, waiting } = told();
    const { heard } = await listening(driver);
    for (let round = 0; round < 20; round += 1) {
      await until('one waits', async () => (await waiting()).length === 1);
      for (const { id = '' } of await waiting()) await raw.call('CLIENT', 'KILL', 'ID', id);
    }
    await until('one waits', async () => (await waiting()).length === 1);
    heard.count = 0;
    await another().push(aJob());
    await until('woken', () => heard.count === 1);
  });

  it('asks for nothing while nothing happens', async () => {
    const server = await startRedis({ own: true });
    onTestFinished(() => server.close());
    const { driver, raw, prefix } = told(server.url);
    await listening(driver);
    await pause(100);
    const monitor = await raw.monitor();
    const seen: string[] = [];
    monitor.on('monitor', (_: string, words: string[]) => seen.push(words.join(' ')));
    await pause(1_000);
    monitor.disconnect();
    expect(seen.filter((line) => line.includes(prefix))).toStrictEqual([]);
  });

  it('that is refused is tried again at leisure, not in a loop; the reason is told once, and pushes go on', async () => {
    const server = await startRedis({ own: true });
    onTestFinished(() => server.close());
    const { raw, prefix } = open({ url: server.url });
    await raw.call('ACL', 'SETUSER', 'queue', 'on', '>secret', ...aclOf(prefix), '-bzpopmin');
    const { driver, warnings } = open({ url: server.url, prefix, template: aUserOf(server.url) });
    const received = async () => Number(/total_connections_received:(\d+)/.exec(await raw.info('stats'))?.[1]);
    const { heard } = await listening(driver);
    const before = await received();
    await pause(3_000);
    expect((await received()) - before).toBeLessThan(20);
    expect(heard.count).toBeLessThan(20);
    expect(await driver.push(aJob())).toBe(1);
    expect(warnings.map(({ code }) => code)).toStrictEqual(['wakeups_unavailable']);
    expect(warnings[0]?.message).toContain('NOPERM');
    await raw.call('ACL', 'SETUSER', 'queue', '+bzpopmin');
    await until('it waits', async () => (await connectionsTo(raw)).some(({ flags }) => flags?.includes('b')));
  });

  it('keeps waiting for the other queues when one subscription of several ends', async () => {
    const { driver, another } = told();
    const one = await listening(driver, ['a']);
    const other = await listening(driver, ['b']);
    await one.subscription[Symbol.asyncDispose]();
    other.heard.count = 0;
    const pusher = another();
    await pusher.push(aJob({ queue: 'a' }));
    await pusher.push(aJob({ queue: 'b' }));
    await until('woken', () => other.heard.count > 0);
  });
});
