import { startRedis } from '@q/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aJob, open, until } from './fixtures.js';

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

  it('of claims is made a thousand at a time: no script holds up the server for long', async () => {
    const server = await startRedis({ own: true });
    onTestFinished(() => server.close());
    const { driver, clock, raw, stored } = open({ url: server.url });
    await driver.pushMany(Array.from({ length: 2_500 }, () => aJob({ delay: 5 })));
    await driver.pushMany([aJob({ priority: 1 }), aJob({ priority: -1 })]);
    clock.advance(5);
    const sizes: number[] = [];
    const monitor = await raw.monitor();
    monitor.on('monitor', (_: string, words: string[], by: string) => {
      const [command = '', key = ''] = words;
      if (by !== 'lua' && /^eval/i.test(command) && words.includes(stored.key('id'))) sizes.push(0);
      const isClaim = /^zadd$/i.test(command) && key === stored.key('claims:0:default');
      if (by === 'lua' && isClaim) sizes.push((sizes.pop() ?? 0) + 1);
    });
    const jobs = await driver.reserveMany(['default'], 3_000, 60, 'w');
    await raw.echo('the end');
    await until('all was seen', () => sizes.reduce((sum, size) => sum + size, 0) === 2_500);
    monitor.disconnect();
    expect([jobs.length, new Set(jobs.map(({ id }) => id)).size]).toStrictEqual([2_502, 2_502]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
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
