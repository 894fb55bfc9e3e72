import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SqliteDriver } from '../src/index.js';
import { aFolder, aJob, messageOf, open, start } from './fixtures.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A listener that can be waited for; `count` is how often it was called. */
function listener() {
  let count = 0;
  let notify = () => {};
  const wake = () => {
    count += 1;
    notify();
  };
  const next = (ms: number) =>
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, ms, false);
      notify = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  return { wake, next, count: () => count };
}

describe('a push through the driver itself', () => {
  it.each([undefined, ':memory:'])('wakes at once whoever listens to its queue (%s)', async (file) => {
    const { driver, db } = await open(file === undefined ? {} : { file, journal: null });
    const mail = listener();
    const other = listener();
    await using _mail = await driver.onPush(['default', 'mail'], mail.wake);
    await using _other = await driver.onPush(['other'], other.wake);
    await driver.push(aJob({ queue: 'mail' }));
    expect([mail.count(), other.count()]).toStrictEqual([1, 0]);
    await driver.pushMany([aJob({ queue: 'mail' }), aJob({ queue: 'default' })]);
    await Promise.resolve();
    expect([mail.count(), other.count()]).toStrictEqual([2, 0]);
    driver.pushSync(aJob({ queue: 'other' }));
    await Promise.resolve();
    expect([mail.count(), other.count()]).toStrictEqual([2, 1]);
    db.exec('BEGIN');
    await driver.within(db).push(aJob({ queue: 'mail' }));
    await Promise.resolve();
    expect(mail.count()).toBe(3);
    db.exec('COMMIT');
  });

  it('calls nobody inside a transaction function of the application’s', async () => {
    const { driver, db } = await open();
    const inTransaction: boolean[] = [];
    await using _subscription = await driver.onPush(['default'], () => inTransaction.push(db.inTransaction));
    db.transaction(() => driver.pushSync(aJob()))();
    await Promise.resolve();
    expect(inTransaction[0]).toBe(false);
  });

  it('that finds its key held wakes nobody; a failed job put back wakes', async () => {
    const { driver } = await open();
    await driver.push(aJob({ unique: 'k' }));
    const job = await driver.reserve(['default'], 60, 'w');
    const { wake, count } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    await driver.push(aJob({ unique: 'k' }));
    expect(count()).toBe(0);
    if (job !== null) await driver.fail(job, 'no');
    await driver.retryFailed('all', 3);
    expect(count()).toBe(1);
  });

  it('wakes the others where one listener throws', async () => {
    const { driver } = await open();
    const { wake, count } = listener();
    await using _bad = await driver.onPush(['default'], () => {
      throw new Error('not now');
    });
    await using _good = await driver.onPush(['default'], wake);
    expect(await driver.push(aJob())).toBe(1);
    expect(count()).toBe(1);
  });
});

describe('a push by another process', () => {
  it.each([
    ['wal', 'push'],
    ['wal', 'pushSync'],
    ['delete', 'push'],
    ['delete', 'pushSync'],
  ] as const)('is noticed within a fraction of a second (%s, %s)', async (journal, how) => {
    const { driver, file } = await open({ journal });
    const child = start('push', file);
    await messageOf(child);
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    const latenciesMs: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const pushed = messageOf<number>(child);
      const woken = next(2000);
      child.send(how);
      expect(await woken).toBe(true);
      const wokenAt = performance.timeOrigin + performance.now();
      latenciesMs.push(wokenAt - (await pushed));
      await sleep(5);
    }
    latenciesMs.sort((a, b) => a - b);
    // Far below the slow look every 250 ms, which would give 125 ms on average.
    expect(latenciesMs[10]).toBeLessThan(60);
    child.send('end');
  });

  it('is seen when the application’s own transaction commits, long after the hint', async () => {
    const { driver, db } = await open();
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    db.exec('BEGIN');
    await driver.within(db).push(aJob());
    expect(await driver.reserve(['default'], 60, 'w')).toBe(null);
    await sleep(300);
    const woken = next(2000);
    db.exec('COMMIT');
    expect(await woken).toBe(true);
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ id: 1 });
  });

  it('is noticed where the file system has no events, by a look every 25 ms, which is said once', async () => {
    vi.spyOn(fs, 'watch').mockImplementation(() => {
      throw Object.assign(new Error('System limit for number of file watchers reached'), { code: 'ENOSPC' });
    });
    const { driver, file, warnings } = await open();
    const other = await open({ file, tables: false });
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    const woken = next(200);
    await other.driver.push(aJob());
    expect(await woken).toBe(true);
    await (await driver.onPush(['default'], () => {}))[Symbol.asyncDispose]();
    expect(warnings).toStrictEqual([
      {
        code: 'watch_unavailable',
        message: `${file} cannot be watched for changes, so it is looked at 40 times a second instead: System limit for number of file watchers reached`,
      },
    ]);
  });

  it('is noticed by the slow look where events do not come', async () => {
    const { driver, file } = await open();
    const other = await open({ file, tables: false });
    const watcher = fs.watch(aFolder(), { persistent: false });
    vi.spyOn(fs, 'watch').mockReturnValue(watcher as never);
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    const woken = next(2000);
    await other.driver.push(aJob());
    expect(await woken).toBe(true);
  });

  it('is noticed after the watching broke', async () => {
    const { driver, file, warnings } = await open();
    const other = await open({ file, tables: false });
    const watch = vi.spyOn(fs, 'watch');
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    const watcher = watch.mock.results[0]?.value as fs.FSWatcher;
    watcher.emit('error', new Error('the directory went away'));
    const woken = next(200);
    await other.driver.push(aJob());
    expect(await woken).toBe(true);
    expect(warnings).toMatchObject([{ code: 'watch_unavailable' }]);
  });
});

describe('a push in memory by another driver on the same Database', () => {
  it('is noticed by a look every 25 ms, once it is committed', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null });
    const other = new SqliteDriver(db);
    const { wake, next, count } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    db.exec('BEGIN');
    await other.within(db).push(aJob());
    await sleep(100);
    expect(count()).toBe(0);
    const woken = next(2000);
    db.exec('COMMIT');
    expect(await woken).toBe(true);
  });
});

describe('what others do besides pushing', () => {
  it('wakes nobody', async () => {
    const { driver, file } = await open();
    const other = await open({ file, tables: false });
    await other.driver.pushMany([aJob(), aJob()]);
    const { wake, count } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    const [first, second] = await other.driver.reserveMany(['default'], 2, 60, 'w');
    if (first === undefined || second === undefined) return expect.unreachable();
    await other.driver.delete(first);
    await other.driver.release(second, 60, '');
    await sleep(400);
    expect(count()).toBe(0);
  });
});

describe('a subscription', () => {
  it('that has ended wakes nobody, and the last one ends the watching', async () => {
    const { driver, file } = await open();
    const other = await open({ file, tables: false });
    const watch = vi.spyOn(fs, 'watch');
    const one = listener();
    const two = listener();
    const first = await driver.onPush(['default'], one.wake);
    const second = await driver.onPush(['default'], two.wake);
    expect(watch).toHaveBeenCalledTimes(1);
    const close = vi.spyOn(watch.mock.results[0]?.value as fs.FSWatcher, 'close');
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(close).not.toHaveBeenCalled();
    await driver.push(aJob());
    expect([one.count(), two.count()]).toStrictEqual([0, 1]);
    await second[Symbol.asyncDispose]();
    expect(close).toHaveBeenCalledTimes(1);
    await other.driver.push(aJob());
    await sleep(300);
    expect([one.count(), two.count()]).toStrictEqual([0, 1]);
  });

  it('can be made before there are tables, and wakes for the first job', async () => {
    const { driver, file } = await open({ tables: false });
    const other = await open({ file, tables: false });
    const { wake, next } = listener();
    await using _subscription = await driver.onPush(['default'], wake);
    await other.driver.createTables();
    const woken = next(2000);
    await other.driver.push(aJob());
    expect(await woken).toBe(true);
  });

  it('of a closed driver is over', async () => {
    const { driver, file } = await open();
    const other = await open({ file, tables: false });
    const { wake, count } = listener();
    const subscription = await driver.onPush(['default'], wake);
    await driver.close();
    await other.driver.push(aJob());
    await sleep(300);
    expect(count()).toBe(0);
    await subscription[Symbol.asyncDispose]();
  });

  it('keeps no process alive', async () => {
    const { file } = await open();
    const child = start('listen', file);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    expect(await messageOf(child)).toBe('listening');
    expect(await Promise.race([exited, sleep(5000)])).toBe(0);
  });
});
