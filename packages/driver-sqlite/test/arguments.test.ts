import { isQueueError } from '@q/core';
import { describe, expect, it } from 'vitest';
import { SqliteDriver } from '../src/index.js';
import { aJob, count, open } from './fixtures.js';

/** What a client could take for something else than a plain value. */
const HOSTILE: readonly unknown[] = [
  { id: 1 }, { toString: () => 'x' }, [['a', 'b']], ['a'], new String('x'), new Number(1), Buffer.from('x'), true, Symbol('x'),
  1n, Number.NaN, Number.POSITIVE_INFINITY, 1.5, () => 'x', new Date(), new Map(), Object.create(null),
]; // biome-ignore format: a list to be read as one

const isText = (value: unknown) => typeof value === 'string';
const shown = (value: unknown) =>
  typeof value === 'symbol'
    ? 'a symbol'
    : `${typeof value} ${JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))}`;

async function refuses(call: () => unknown, what: string): Promise<void> {
  let error: unknown = null;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  expect(isQueueError(error), `${what}: ${String(error)}`).toBe(true);
}

type Call = (driver: SqliteDriver, value: never) => unknown;

/** Every argument of every method; `allowed` says what else it takes. */
const ARGUMENTS: Readonly<Record<string, { readonly call: Call; readonly allowed?: (value: unknown) => boolean }>> = {
  'push job': { call: (driver, value) => driver.push(value) },
  'push name': { call: (driver, value) => driver.push(aJob({ name: value })) },
  'push queue': { call: (driver, value) => driver.push(aJob({ queue: value })) },
  'push unique': { call: (driver, value) => driver.push(aJob({ unique: value })) },
  'push delay': { call: (driver, value) => driver.push(aJob({ delay: value })) },
  'push priority': { call: (driver, value) => driver.push(aJob({ priority: value })) },
  'push maxAttempts': { call: (driver, value) => driver.push(aJob({ maxAttempts: value })) },
  'pushMany jobs': { call: (driver, value) => driver.pushMany(value) },
  'pushMany job': { call: (driver, value) => driver.pushMany([aJob(), value]) },
  'pushSync job': { call: (driver, value) => driver.pushSync(value) },
  'pushSync unique': { call: (driver, value) => driver.pushSync(aJob({ unique: value })) },
  'reserve queues': {
    call: (driver, value) => driver.reserve(value, 60, 'w'),
    allowed: (value) => isListOf(value, isText),
  },
  'reserve queue': { call: (driver, value) => driver.reserve([value], 60, 'w') },
  'reserve timeout': { call: (driver, value) => driver.reserve(['default'], value, 'w') },
  'reserve worker': { call: (driver, value) => driver.reserve(['default'], 60, value) },
  'reserveMany queue': { call: (driver, value) => driver.reserveMany([value], 2, 60, 'w') },
  'reserveMany limit': { call: (driver, value) => driver.reserveMany(['default'], value, 60, 'w') },
  'reserveMany timeout': { call: (driver, value) => driver.reserveMany(['default'], 2, value, 'w') },
  'reserveMany worker': { call: (driver, value) => driver.reserveMany(['default'], 2, 60, value) },
  'delete claim': { call: (driver, value) => driver.delete(value) },
  'delete id': { call: (driver, value) => driver.delete({ id: value, attempts: 1, handle: '' }) },
  'delete attempts': { call: (driver, value) => driver.delete({ id: 1, attempts: value, handle: '' }) },
  'delete handle': { call: (driver, value) => driver.delete({ id: 1, attempts: 1, handle: value }) },
  'deleteMany claims': { call: (driver, value) => driver.deleteMany(value) },
  'release claim': { call: (driver, value) => driver.release(value, 0, '') },
  'release delay': { call: (driver, value) => driver.release(CLAIM, value, '') },
  'release error': { call: (driver, value) => driver.release(CLAIM, 0, value) },
  'fail claim': { call: (driver, value) => driver.fail(value, '') },
  'fail error': { call: (driver, value) => driver.fail(CLAIM, value) },
  'extend claim': { call: (driver, value) => driver.extend(value, 60) },
  'extend timeout': { call: (driver, value) => driver.extend(CLAIM, value) },
  'extendMany claims': { call: (driver, value) => driver.extendMany(value, 60) },
  'extendMany timeout': { call: (driver, value) => driver.extendMany([CLAIM], value) },
  'pending queue': { call: (driver, value) => driver.pending(value) },
  'failedRows limit': { call: (driver, value) => driver.failedRows(value) },
  'retryFailed which': { call: (driver, value) => driver.retryFailed(value, 3), allowed: hasIdAlone },
  'retryFailed id': { call: (driver, value) => driver.retryFailed({ id: value }, 3) },
  'retryFailed maxAttempts': { call: (driver, value) => driver.retryFailed('all', value) },
  'forgetFailed which': { call: (driver, value) => driver.forgetFailed(value), allowed: hasIdAlone },
  'forgetFailed id': { call: (driver, value) => driver.forgetFailed({ id: value }) },
  'forgetFailed before': {
    call: (driver, value) => driver.forgetFailed({ before: value }),
    allowed: (value) => value instanceof Date,
  },
  'find id': { call: (driver, value) => driver.find(value) },
  'findFailed id': { call: (driver, value) => driver.findFailed(value) },
  'onPush queues': {
    call: (driver, value) => driver.onPush(value, () => {}),
    allowed: (value) => isListOf(value, isText),
  },
  'onPush wake': {
    call: (driver, value) => driver.onPush(['default'], value),
    allowed: (value) => typeof value === 'function',
  },
  'within tx': { call: (driver, value) => driver.within(value) },
};

const CLAIM = { id: 1, attempts: 1, handle: '' };

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function hasIdAlone(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'id';
}

describe('an argument that is not what it has to be', () => {
  it.each(Object.entries(ARGUMENTS))('is a QueueError, and changes nothing: %s', async (_, { call, allowed }) => {
    const { driver, db } = await open();
    await driver.push(aJob());
    await driver.push(aJob({ name: 'fails' }));
    const before = db.prepare('SELECT * FROM queue_jobs').all();
    for (const value of HOSTILE) {
      if (allowed?.(value)) continue;
      await refuses(() => call(driver, value as never), shown(value));
    }
    expect(db.prepare('SELECT * FROM queue_jobs').all()).toStrictEqual(before);
    expect(count(db, 'queue_failed_jobs')).toBe(0);
  });

  it.each(['table', 'failedTable', 'now', 'onWarning', 'maxPayloadBytes', 'callTimeout'])(
    'is refused when the driver is built: the option %s',
    async (option) => {
      const { db } = await open();
      for (const value of HOSTILE) {
        if (typeof value === 'function' && (option === 'now' || option === 'onWarning')) continue;
        await refuses(() => new SqliteDriver(db, { [option]: value }), shown(value));
      }
    },
  );

  it('is refused when the driver is built: the Database and the options themselves', async () => {
    const { db } = await open();
    for (const value of [...HOSTILE, null, undefined, 'app.db', 7]) {
      await refuses(() => new SqliteDriver(value as never), shown(value));
    }
    for (const value of [null, 'table', 7, true, Symbol('x')]) {
      await refuses(() => new SqliteDriver(db, value as never), shown(value));
    }
  });
});

describe('an argument that is text or a number in disguise', () => {
  it('stays a value: SQL in it is stored as it is', async () => {
    const { driver, db } = await open();
    db.exec('CREATE TABLE canary (id INTEGER)');
    const evil = "x'; DROP TABLE canary; --";
    await driver.push(aJob({ name: evil, queue: evil, unique: evil, payload: { evil } }));
    expect(await driver.pending(evil)).toBe(1);
    const job = await driver.reserve([evil], 60, evil);
    expect(job).toMatchObject({ name: evil, queue: evil, payload: { evil } });
    if (job !== null) await driver.fail(job, evil);
    expect(await driver.failedRows(1)).toMatchObject([{ name: evil, queue: evil, error: evil }]);
    expect(count(db, 'canary')).toBe(0);
  });

  it('below a floor is raised to it', async () => {
    const { driver } = await open();
    const id = await driver.push(aJob({ delay: -5, maxAttempts: -1, priority: -3 }));
    expect(await driver.find(id)).toMatchObject({ maxAttempts: 1, priority: -3, state: 'pending' });
    expect(await driver.reserveMany(['default'], -7, 60, 'w')).toHaveLength(1);
  });
});
