import { describe, expect, it } from 'vitest';
import type { RedisDriver } from '../src/index.js';
import { aJob, open } from './fixtures.js';

/** Runs whatever can be reserved, each job once, and gives the ids in order. */
async function drain(driver: RedisDriver, queues = ['default']): Promise<number[]> {
  const ids: number[] = [];
  for (let job = await driver.reserve(queues, 60, 'w'); job !== null; job = await driver.reserve(queues, 60, 'w')) {
    ids.push(job.id);
    expect(await driver.delete(job)).toBe(true);
  }
  return ids;
}

async function pushed(driver: RedisDriver, count: number): Promise<number[]> {
  return driver.pushMany(Array.from({ length: count }, () => aJob()));
}

describe('what somebody does to the keys by hand', () => {
  it('XGROUP DESTROY: claims hold, and everything is run once', async () => {
    const { driver, raw, stored } = open();
    const ids = await pushed(driver, 10);
    const held = await driver.reserveMany(['default'], 5, 60, 'w');
    await raw.xgroup('DESTROY', stored.key('ready:0:default'), 'q');
    expect(await driver.pending()).toBe(5);
    expect(await drain(driver)).toStrictEqual(ids.slice(5));
    expect(await driver.deleteMany(held)).toStrictEqual([]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });

  it('XGROUP SETID to the end: what it skipped is found once nothing else is new', async () => {
    const { driver, raw, stored } = open();
    const ids = await pushed(driver, 4);
    const first = await driver.reserve(['default'], 60, 'w');
    await raw.xgroup('SETID', stored.key('ready:0:default'), 'q', '$');
    expect(await drain(driver)).toStrictEqual(ids.slice(1));
    expect(await driver.delete(first ?? { id: 0, attempts: 0, handle: '' })).toBe(true);
  });

  it('XDEL and XTRIM: what is left is run once, and nothing stays behind', async () => {
    const { driver, raw, stored, clock } = open();
    const ids = await pushed(driver, 8);
    const held = await driver.reserveMany(['default'], 5, 10, 'w');
    const entries = held.map(({ handle }) => handle.split(':')[0] ?? '');
    await raw.xdel(stored.key('ready:0:default'), ...entries.slice(0, 2));
    await raw.xtrim(stored.key('ready:0:default'), 'MAXLEN', 4);
    clock.advance(10);
    expect(await drain(driver)).toStrictEqual(ids.slice(4));
    expect(await driver.pending()).toBe(0);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });

  it('XDEL and XTRIM of what waits, and XGROUP SETID: pending counts what is left, on every level of its own', async () => {
    const { driver, raw, stored } = open();
    await pushed(driver, 8);
    await driver.pushMany([aJob({ priority: 5 }), aJob({ priority: 5 })]);
    const entries = await raw.xrange(stored.key('ready:0:default'), '-', '+');
    await raw.xdel(stored.key('ready:0:default'), ...entries.slice(3, 5).map(([entry]) => entry));
    expect(await driver.pending()).toBe(8);
    await raw.xtrim(stored.key('ready:0:default'), 'MAXLEN', 4);
    expect(await driver.pending()).toBe(6);
    expect(await driver.reserveMany(['default'], 3, 60, 'w')).toHaveLength(3);
    await raw.xgroup('SETID', stored.key('ready:0:default'), 'q', '0');
    expect(await driver.pending()).toBe(3);
    // The two claims of the higher level are on nothing now. They say nothing of the level below.
    await raw.del(stored.key('ready:5:default'));
    expect(await driver.pending()).toBe(3);
    await raw.del(stored.key('ready:0:default'));
    expect(await driver.pending()).toBe(0);
  });

  it('XDEL under a live claim: its holder can renew and finish it, and a release finds nothing to run again', async () => {
    const { driver, raw, stored } = open();
    await pushed(driver, 3);
    const held = await driver.reserveMany(['default'], 3, 60, 'w');
    await raw.del(stored.key('ready:0:default'));
    expect(await driver.extendMany(held, 60)).toStrictEqual([]);
    const [first, second, third] = held;
    if (first === undefined || second === undefined || third === undefined) throw new Error('they are there');
    expect(await driver.delete(first)).toBe(true);
    expect(await driver.release(second, 0, 'no')).toBe(false);
    expect(await driver.fail(third, 'no')).toBe(false);
    expect(await stored.failed()).toStrictEqual([]);
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });

  it('DEL of the stream alone: the next push makes it anew', async () => {
    const { driver, raw, stored } = open();
    await pushed(driver, 3);
    await driver.reserve(['default'], 60, 'w');
    await raw.del(stored.key('ready:0:default'));
    const ids = await pushed(driver, 3);
    expect(await drain(driver)).toStrictEqual(ids);
  });

  it('DEL of the claims: their jobs are run again, an attempt later', async () => {
    const { driver, raw, stored } = open();
    const [id] = await pushed(driver, 1);
    const stale = await driver.reserve(['default'], 60, 'w');
    await raw.del(stored.key('claims:0:default'));
    expect(await driver.pending()).toBe(1);
    expect(await driver.delete(stale ?? { id: 0, attempts: 0, handle: '' })).toBe(false);
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ id, attempts: 2 });
  });

  it('FLUSHALL: everything begins anew, and a claim from before is nobody’s', async () => {
    const { driver, raw, stored } = open();
    const [id] = await pushed(driver, 1);
    const stale = await driver.reserve(['default'], 60, 'w');
    for (const key of await stored.keys()) await raw.del(key);
    expect(await driver.pending()).toBe(0);
    expect(await pushed(driver, 1)).toStrictEqual([id]);
    const job = await driver.reserve(['default'], 60, 'w');
    expect([job?.id, job?.attempts]).toStrictEqual([stale?.id, stale?.attempts]);
    expect(await driver.delete(stale ?? { id: 0, attempts: 0, handle: '' })).toBe(false);
    expect(await driver.delete(job ?? { id: 0, attempts: 0, handle: '' })).toBe(true);
  });

  it('DEL of the counter: ids go on where they cannot be in use', async () => {
    const { driver, raw, stored, clock } = open();
    await driver.push(aJob({ queue: 'other' }));
    const failed = await driver.push(aJob());
    await driver.fail((await driver.reserve(['default'], 60, 'w')) ?? { id: 0, attempts: 0, handle: '' }, 'no');
    await raw.del(stored.key('id'));
    const [id, next] = [await driver.push(aJob()), await driver.push(aJob())];
    expect([id, next]).toStrictEqual([clock.seconds * 1_000_000 + 1, clock.seconds * 1_000_000 + 2]);
    expect(await drain(driver)).toStrictEqual([id, next]);
    expect((await driver.findFailed(failed))?.error).toBe('no');
  });

  it('XADD of a job without an id: it gets one, and is run', async () => {
    const { driver, raw, stored, clock } = open();
    await driver.push(aJob({ queue: 'other' }));
    const payload = '{"b":1,"a":1.0,"n":12345678901234567890}';
    await raw.xadd(stored.key('ready:0:mail'), '*', 'name', 'send', 'payload', payload);
    await raw.zadd(stored.key('levels:mail'), 0, '0');
    await raw.sadd(stored.key('queues'), 'mail');
    expect(await driver.pending('mail')).toBe(1);
    const job = await driver.reserve(['mail'], 10, 'w');
    expect(job).toMatchObject({
      id: 2,
      queue: 'mail',
      name: 'send',
      payloadJson: payload,
      attempts: 1,
      maxAttempts: 3,
    });
    clock.advance(10);
    await raw.xgroup('DESTROY', stored.key('ready:0:mail'), 'q');
    const again = await driver.reserve(['mail'], 10, 'w');
    expect(again).toMatchObject({ id: 2, payloadJson: payload, attempts: 2, reclaimed: true });
    expect(await driver.reserve(['mail'], 10, 'w')).toBeNull();
    expect(await driver.fail(again ?? { id: 0, attempts: 0, handle: '' }, 'no')).toBe(true);
    expect((await driver.findFailed(2))?.payloadJson).toBe(payload);
  });

  it.each(['', 'x', '1.5', '-1', '0x10', '007', '9007199254740993'])(
    'XADD of an entry whose id is %j: it is left alone, with a warning, and holds up nobody',
    async (id) => {
      const { driver, raw, stored, warnings } = open();
      const [first] = await pushed(driver, 1);
      for (let n = 0; n < 2; n += 1) {
        await raw.xadd(stored.key('ready:0:default'), '*', 'id', id, 'name', 'a', 'payload', '{}');
      }
      const [last] = await pushed(driver, 1);
      expect((await driver.reserveMany(['default'], 9, 60, 'w')).map((job) => job.id)).toStrictEqual([first, last]);
      expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
      expect(await driver.pending()).toBe(0);
      // Every entry is accounted for, so that no look reads them all again.
      expect(await raw.zcard(stored.key('claims:0:default'))).toBe(4);
      expect(warnings.map(({ code }) => code)).toStrictEqual(['id_out_of_range']);
    },
  );

  it('XADD of such an entry, and XDEL of it when somebody has seen the warning: nothing is left of it', async () => {
    const { driver, raw, stored } = open();
    await pushed(driver, 1);
    const entry = (await raw.xadd(stored.key('ready:0:default'), '*', 'id', 'x', 'name', 'a', 'payload', '{}')) ?? '';
    expect(await drain(driver)).toHaveLength(1);
    await raw.xdel(stored.key('ready:0:default'), entry);
    expect(await drain(driver)).toStrictEqual([]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
    await pushed(driver, 2);
    expect(await driver.pending()).toBe(2);
  });

  it('XADD of a job without an id where there are no more ids: it is left alone, with a warning, and not lost', async () => {
    const { driver, raw, stored, warnings } = open();
    await raw.set(stored.key('id'), String(Number.MAX_SAFE_INTEGER - 1));
    const [id] = await pushed(driver, 1);
    await raw.xadd(stored.key('ready:0:default'), '*', 'name', 'send', 'payload', '{}');
    expect(await drain(driver)).toStrictEqual([id]);
    expect(await raw.xlen(stored.key('ready:0:default'))).toBe(1);
    expect(await driver.pending()).toBe(0);
    expect(warnings.map(({ code }) => code)).toStrictEqual(['id_out_of_range']);
  });

  it('XADD of what is no job: it is deleted', async () => {
    const { driver, raw, stored } = open();
    const [id] = await pushed(driver, 1);
    for (const fields of [
      ['a', 'b'],
      ['name', 'a'],
      ['id', '77'],
    ]) {
      await raw.xadd(stored.key('ready:0:default'), '*', ...fields);
    }
    expect(await drain(driver)).toStrictEqual([id]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });
});

describe('a script that ends in the middle', () => {
  it('before a push’s last write leaves what it stored to be run', async () => {
    const { driver, raw, stored } = open();
    await raw.set(stored.key('ready:1:default'), 'what no stream is');
    const jobs = [aJob(), aJob({ delay: 5 }), aJob({ priority: 1 })];
    await expect(driver.pushMany(jobs)).rejects.toThrow(/WRONGTYPE/);
    await raw.del(stored.key('ready:1:default'));
    expect(await driver.pending()).toBe(1);
    expect(await drain(driver)).toHaveLength(1);
  });

  it('before a release’s last write leaves no claim that nobody could finish', async () => {
    const { driver, raw, stored, clock } = open();
    const [id] = await pushed(driver, 1);
    const job = await driver.reserve(['default'], 10, 'w');
    expect(await driver.release(job ?? { id: 0, attempts: 0, handle: '' }, 60, 'no')).toBe(true);
    for (const isDelayed of [true, false]) {
      await raw.zadd(stored.key('claims:0:default'), clock.seconds + 10, String(id));
      if (!isDelayed) await raw.zrem(stored.key('delayed:0:default'), String(id));
      clock.advance(10);
      expect(await driver.reserve(['default'], 10, 'w')).toBeNull();
      expect(await driver.pending()).toBe(0);
    }
    clock.advance(60);
    expect(await driver.pending()).toBe(1);
    expect(await drain(driver)).toStrictEqual([id]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });

  it('after a promotion’s first write leaves the job to be run once', async () => {
    const { driver, raw, stored, clock } = open();
    const id = await driver.push(aJob({ delay: 5 }));
    clock.advance(5);
    // The entry is there; the state does not know of it, and the job is still delayed.
    await raw.xadd(stored.key('ready:0:default'), '*', 'id', String(id));
    expect(await drain(driver)).toStrictEqual([id]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });

  it('after it has read an entry and before it has claimed it leaves the job to be run', async () => {
    const { driver, raw, stored } = open();
    const ids = await pushed(driver, 2);
    const first = await driver.reserve(['default'], 60, 'w');
    await raw.xreadgroup('GROUP', 'q', 'worker', 'COUNT', 1, 'NOACK', 'STREAMS', stored.key('ready:0:default'), '>');
    expect(await drain(driver)).toStrictEqual(ids.slice(1));
    expect(await driver.delete(first ?? { id: 0, attempts: 0, handle: '' })).toBe(true);
  });

  it('after a release’s first writes leaves the job under its claim, and then to be run once', async () => {
    const { driver, raw, stored, clock } = open();
    const [id] = await pushed(driver, 1);
    const job = await driver.reserve(['default'], 10, 'w');
    // Its text is kept and its due time set; the state, the entry and the claim are as they were.
    await raw.hset(stored.key('jobs'), `${id}:text`, ['default', 0, 'send-invoice', 3, clock.seconds, '{}'].join('\t'));
    await raw.zadd(stored.key('delayed:0:default'), clock.seconds, String(id));
    clock.advance(10);
    const again = await driver.reserve(['default'], 10, 'w');
    expect([again?.id, again?.attempts, await driver.delete(job ?? { id: 0, attempts: 0, handle: '' })]).toStrictEqual([
      id,
      2,
      false,
    ]);
    expect(await driver.delete(again ?? { id: 0, attempts: 0, handle: '' })).toBe(true);
    expect(await drain(driver)).toStrictEqual([]);
    expect(await stored.keys()).toStrictEqual([stored.key('id')]);
  });
});
