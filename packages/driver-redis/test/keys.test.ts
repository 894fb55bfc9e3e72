import { describe, expect, it } from 'vitest';
import { RedisDriver } from '../src/index.js';
import { handleOf, Keys, keyArguments, placeOf } from '../src/keys.js';
import { aClient, aJob, open } from './fixtures.js';

const QUEUES = ['a', 'a{b}', '{', '}', '{}', 'a}b{c', '0:a', 'ready:0:a', 'd e', 'é', '日本', '😀', ':'.repeat(64)];
const levels = QUEUES.map((queue) => ({ queue, priorities: [0, -1, 2 ** 31 - 1, 1 - 2 ** 31] }));

/** The slot of a key, by the letter of the cluster's specification. */
function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  const hashed = open !== -1 && close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % 16_384;
}

describe('the keys', () => {
  it('of a prefix are in one slot, whatever the queues are called', () => {
    expect([slotOf('123456789'), slotOf('{user1000}.following')]).toStrictEqual([12_739, slotOf('user1000')]);
    for (const prefix of ['queue', 'my-app:jobs', 'é', 'a"b']) {
      const slots = new Keys(prefix).of(levels).map(slotOf);
      expect(new Set(slots)).toStrictEqual(new Set([slotOf(prefix)]));
    }
  });

  it('of two queues, two levels or two prefixes are never the same', () => {
    const keys = ['queue', 'queue2', 'q'].flatMap((prefix) => new Keys(prefix).of(levels));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBe(3 * (6 + QUEUES.length * (2 + 4 * 3)));
  });

  it('come in the order in which the scripts count them', () => {
    const queues = [
      { queue: 'mail', priorities: [5, -1] },
      { queue: 'b', priorities: [] },
    ];
    expect(new Keys('queue').of(queues).slice(6)).toStrictEqual(
      [
        ...['levels:mail', 'bell:mail'],
        ...['ready:5:mail', 'claims:5:mail', 'delayed:5:mail', 'ready:-1:mail', 'claims:-1:mail', 'delayed:-1:mail'],
        ...['levels:b', 'bell:b'],
      ].map((key) => `{queue}:${key}`),
    );
    expect(keyArguments(queues)).toStrictEqual(['2', 'mail', '2', '5', '-1', 'b', '0']);
  });

  it.each(['', 'a b', '{queue}', 'a}b', '{', 'a\nb', 'x'.repeat(65), '\ud800', 42, null, {}])(
    'cannot have the prefix %j: the driver is not built',
    (prefix) => {
      // The cast: a caller without a type checker.
      const build = () => new RedisDriver(aClient(undefined, { lazyConnect: true }), { prefix: prefix as string });
      if (prefix === null) expect(build().prefix).toBe('queue');
      else expect(build).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    },
  );

  it('of two prefixes hold jobs that know nothing of each other', async () => {
    const one = open();
    const other = open();
    await one.driver.push(aJob({ unique: 'k' }));
    expect(await other.driver.reserve(['default'], 60, 'w')).toBeNull();
    expect([await one.driver.pending(), await other.driver.pending()]).toStrictEqual([1, 0]);
    expect(await other.stored.keys()).toStrictEqual([]);
  });
});

describe('a handle', () => {
  it.each(QUEUES)('leads back to where the job is, in the queue %j', (queue) => {
    const place = { entry: '1718000000000-12', priority: -5, queue };
    expect(placeOf(handleOf(place))).toStrictEqual(place);
  });

  it.each(['', '1-0', '1-0:0', '1-0:0:', ':0:a', '1-0:x:a', 'a-0:0:a', `1-0:0:${'x'.repeat(129)}`])(
    'that no reserve gave names no place: %j',
    (handle) => {
      expect(placeOf(handle)).toBeNull();
    },
  );

  it('that no reserve gave is no claim, and no error', async () => {
    const { driver } = open();
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    const claim = { id: job?.id ?? 0, attempts: 1 };
    for (const handle of ['', 'x', '1-0:0:other', '99-0:0:default']) {
      expect(await driver.delete({ ...claim, handle })).toBe(false);
      expect(await driver.release({ ...claim, handle }, 0, '')).toBe(false);
      expect(await driver.fail({ ...claim, handle }, '')).toBe(false);
      expect(await driver.extend({ ...claim, handle }, 60)).toBe(false);
    }
    expect(await driver.delete({ ...claim, handle: job?.handle ?? '' })).toBe(true);
  });
});
