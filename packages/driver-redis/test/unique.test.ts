import { describe, expect, it } from 'vitest';
import { aJob, open } from './fixtures.js';

describe('a unique key', () => {
  it('leads to where its job is, and is gone with it', async () => {
    const { driver, raw, stored } = open();
    const id = await driver.push(aJob({ unique: 'k', queue: 'mail', priority: 4 }));
    const [value = ''] = await raw.hvals(stored.key('unique'));
    expect(value.split('\t')).toStrictEqual([String(id), expect.stringMatching(/^\d+-\d+$/), '4', 'mail']);
    const job = await driver.reserve(['mail'], 60, 'w');
    expect(await driver.delete(job ?? { id, attempts: 1, handle: '' })).toBe(true);
    expect(await raw.exists(stored.key('unique'))).toBe(0);
  });

  it('is held by a job in another queue, on another level, delayed, released or expired', async () => {
    const { driver, clock, another } = open();
    const id = await driver.push(aJob({ unique: 'k' }));
    const push = () => another().push(aJob({ unique: 'k', queue: 'mail', priority: 7, delay: 5 }));
    expect(await push()).toBe(id);
    const job = await driver.reserve(['default'], 10, 'w');
    expect(await push()).toBe(id);
    clock.advance(20);
    expect(await push()).toBe(id);
    await driver.release(job ?? { id, attempts: 1, handle: '' }, 30, 'no');
    expect(await push()).toBe(id);
    clock.advance(30);
    expect(await push()).toBe(id);
    expect((await driver.reserve(['default'], 10, 'w'))?.attempts).toBe(2);
    expect(await push()).toBe(id);
    expect(await driver.pending('mail')).toBe(0);
  });

  it.each([
    ['in the same queue', {}],
    ['in another queue', { queue: 'mail', priority: 3 }],
    ['delayed', { delay: 5 }],
  ])('of a job whose stream somebody has deleted is held by nobody: pushed again %s', async (_, what) => {
    const { driver, raw, stored } = open();
    const lost = await driver.push(aJob({ unique: 'k' }));
    await raw.del(stored.key('ready:0:default'));
    const id = await driver.push(aJob({ unique: 'k', ...what }));
    expect(id).not.toBe(lost);
    expect(await driver.push(aJob({ unique: 'k' }))).toBe(id);
    expect((await stored.jobs()).map((job) => [job.id, job.unique])).toStrictEqual([[id, 'k']]);
  });

  it('that took over is not freed by the one that had it before', async () => {
    const { driver, raw, stored, clock } = open();
    const lost = await driver.push(aJob({ unique: 'k' }));
    await driver.reserve(['default'], 10, 'w');
    // Somebody deletes the claim's state, and with it what says that the job is there.
    await raw.hdel(stored.key('jobs'), String(lost));
    await raw.del(stored.key('ready:0:default'));
    const id = await driver.push(aJob({ unique: 'k', queue: 'mail' }));
    clock.advance(10);
    expect(await driver.reserve(['default'], 10, 'w')).toBeNull();
    expect(await driver.push(aJob({ unique: 'k' }))).toBe(id);
  });

  it('twice in a batch whose holder is elsewhere gives the holder’s id each time, and stores the rest', async () => {
    const { driver, another } = open();
    const holder = await driver.push(aJob({ unique: 'k', queue: 'mail', priority: 3 }));
    const batch = [
      aJob({ unique: 'k' }),
      aJob({ unique: 'new' }),
      aJob({ unique: 'k' }),
      aJob({ unique: 'new' }),
      aJob(),
    ];
    const ids = await another().pushMany(batch);
    expect(ids).toStrictEqual([holder, holder + 1, holder, holder + 1, holder + 2]);
    expect(await driver.pending()).toBe(3);
  });

  it('with anything in it that a script might take for its own is just a key', async () => {
    const { driver } = open();
    const keys = [
      "'",
      '"',
      '\\',
      '%d',
      '{queue}',
      ']]',
      '1 2',
      'id',
      '0',
      'k:text',
      "'); return redis.call('FLUSHALL') --",
    ];
    const ids = await driver.pushMany(keys.map((unique) => aJob({ unique, name: unique, queue: unique })));
    expect(new Set(ids).size).toBe(keys.length);
    for (const [n, unique] of keys.entries()) {
      expect(await driver.push(aJob({ unique }))).toBe(ids[n]);
      const job = await driver.reserve([unique], 60, unique);
      expect([job?.id, job?.name, job?.queue]).toStrictEqual([ids[n], unique, unique]);
      expect((await driver.find(ids[n] ?? 0))?.reservedBy).toBe(unique);
    }
  });
});
