import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteDriver } from '../src/index.js';
import { aFolder, aJob, Clock, count, messageOf, open, start } from './fixtures.js';

/** Everything a driver does, once. */
async function useAll(driver: SqliteDriver): Promise<void> {
  await driver.createTables();
  await driver.pushMany([aJob({ unique: 'k' }), aJob(), aJob(), aJob()]);
  expect(await driver.push(aJob({ unique: 'k' }))).toBe(1);
  const job = await driver.reserve(['default'], 60, 'w');
  expect(job).toMatchObject({ id: 1, attempts: 1, maxAttempts: 3, reclaimed: false });
  if (job === null) return;
  expect(await driver.extend(job, 60)).toBe(true);
  expect(await driver.release(job, 0, '')).toBe(true);
  const [first, ...others] = await driver.reserveMany(['default'], 4, 60, 'w');
  expect(first).toMatchObject({ id: 1, attempts: 2 });
  if (first === undefined) return;
  expect(await driver.fail(first, 'no')).toBe(true);
  expect(await driver.deleteMany(others)).toStrictEqual([]);
  expect(await driver.failedRows(10)).toMatchObject([{ id: 1, attempts: 2, error: 'no' }]);
  expect(await driver.retryFailed('all', 3)).toBe(1);
  // 6, not 5: SQLite spends an id on a push that finds its key held.
  expect(await driver.find(6)).toMatchObject({ id: 6, state: 'pending', ahead: 0, attempts: 0 });
  expect(await driver.stats()).toStrictEqual([{ queue: 'default', pending: 1, delayed: 0, reserved: 0, total: 1 }]);
  expect(driver.pushSync(aJob())).toBe(7);
  expect(await driver.pending()).toBe(2);
}

const PRAGMAS = [
  'busy_timeout',
  'journal_mode',
  'foreign_keys',
  'synchronous',
  'cache_size',
  'locking_mode',
  'query_only',
];

function settingsOf(db: Database.Database): unknown[] {
  return [...PRAGMAS.map((name) => db.pragma(name)), db.prepare('SELECT 1 AS one').get(), db.pragma('database_list')];
}

describe('the application’s connection', () => {
  it.each([
    ['a file in WAL', 'app.db', 'wal'],
    ['a file in journal mode DELETE', 'app.db', 'delete'],
    ['a database in memory', ':memory:', null],
  ] as const)('keeps its settings: %s', async (_, name, journal) => {
    const db = new Database(name === ':memory:' ? name : join(aFolder(), name), { timeout: 4321 });
    if (journal !== null) db.pragma(`journal_mode = ${journal}`);
    db.pragma('foreign_keys = OFF');
    db.defaultSafeIntegers(true);
    db.exec('CREATE TABLE notes (text)'); // at its first use SQLite itself settles `synchronous`
    const before = settingsOf(db);
    const driver = new SqliteDriver(db, { now: new Clock().now, onWarning: () => {} });
    await useAll(driver);
    await using _subscription = await driver.onPush(['default'], () => {});
    expect(settingsOf(db)).toStrictEqual(before);
    await driver.close();
    expect(settingsOf(db)).toStrictEqual(before);
    expect(db.open).toBe(true);
    db.close();
  });

  it('is not used for a plain call where there is a file', async () => {
    const { driver, db } = await open();
    db.prepare('SELECT 1').all();
    Object.defineProperty(db, 'prepare', { value: () => expect.unreachable('the application’s connection was used') });
    await driver.push(aJob());
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({ id: 1 });
  });

  it('may be of a class of the application’s own', async () => {
    class AppDatabase extends Database {
      constructor(readonly folder: string) {
        super(join(folder, 'app.db'));
      }
    }
    const db = new AppDatabase(aFolder());
    db.pragma('journal_mode = WAL');
    await using driver = new SqliteDriver(db, { now: new Clock().now });
    await useAll(driver);
    db.close();
  });

  it('may be closed first: calls on the driver’s own connection go on', async () => {
    const { driver, db } = await open();
    db.close();
    expect(await driver.push(aJob())).toBe(1);
  });
});

describe('a database in memory', () => {
  it('is used while the application has no transaction open', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null });
    db.exec('CREATE TABLE notes (text)');
    db.exec('BEGIN');
    db.exec("INSERT INTO notes VALUES ('one')");
    let pushed = false;
    const push = driver.push(aJob()).then((id) => {
      pushed = true;
      return id;
    });
    const pending = driver.pending();
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(pushed).toBe(false);
    expect(count(db)).toBe(0);
    db.exec('ROLLBACK');
    expect(await push).toBe(1);
    expect(count(db)).toBe(1);
    expect(count(db, 'notes')).toBe(0);
    expect(await pending).toBeLessThanOrEqual(1);
  });

  it('is waited for while the application is in the middle of a query', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null });
    db.exec('CREATE TABLE notes (text)');
    db.exec("INSERT INTO notes VALUES ('one'), ('two')");
    const rows = db.prepare('SELECT text FROM notes').iterate();
    rows.next();
    const push = driver.push(aJob());
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    rows.return?.();
    expect(await push).toBe(1);
  });

  it('says what to do where the application waits for a push inside its own transaction', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null, callTimeout: 1 });
    db.exec('BEGIN');
    await expect(driver.push(aJob())).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('within(db) or pushSync'),
    });
    db.exec('COMMIT');
    expect(count(db)).toBe(0);
  });

  it('and a temporary one (an empty name) are one kind', async () => {
    const db = new Database('');
    await using driver = new SqliteDriver(db, { now: new Clock().now });
    await useAll(driver);
    db.close();
  });

  it('that the application closed is said to be closed', async () => {
    const { driver, db } = await open({ file: ':memory:', journal: null });
    db.close();
    await expect(driver.push(aJob())).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a warning', () => {
  it('recommends WAL, once, where the file is in another mode', async () => {
    const { driver, warnings, file } = await open({ journal: 'delete' });
    await driver.push(aJob());
    await driver.pending();
    expect(warnings).toStrictEqual([
      {
        code: 'journal_not_wal',
        message: `${file} is in journal mode delete, in which readers and the writer wait for each other. WAL is recommended: db.pragma('journal_mode = WAL')`,
      },
    ]);
  });

  it.each([
    ['in WAL', undefined],
    ['in memory', ':memory:'],
  ])('is not given %s', async (_, file) => {
    const { driver, warnings } = await open({ ...(file === undefined ? {} : { file, journal: null }) });
    await useAll(driver);
    expect(warnings).toStrictEqual([]);
  });
});

describe('a store that cannot be used', () => {
  it('without its tables says how to get them, whatever the call', async () => {
    const { driver, db } = await open({ tables: false });
    const missing = {
      code: 'store_unavailable',
      message:
        'The tables "queue_jobs" and "queue_failed_jobs" are not there. Apply the migration that `q install` writes, or call createTables()',
    };
    await expect(driver.push(aJob())).rejects.toMatchObject(missing);
    await expect(driver.reserve(['default'], 60, 'w')).rejects.toMatchObject(missing);
    await expect(driver.stats()).rejects.toMatchObject(missing);
    expect(() => driver.pushSync(aJob())).toThrow(missing.message);
    db.exec('BEGIN');
    await expect(driver.within(db).push(aJob())).rejects.toMatchObject(missing);
    db.exec('COMMIT');
    await driver.createTables();
    expect(await driver.push(aJob())).toBe(1);
    db.exec('DROP TABLE queue_jobs');
    await expect(driver.push(aJob())).rejects.toMatchObject(missing);
  });

  it.each(['queue_jobs', 'main.Queue_Jobs'])(
    'for another reason says that one: a column is missing (%s)',
    async (table) => {
      const { driver, db } = await open({ table });
      db.exec('ALTER TABLE queue_jobs DROP COLUMN last_error');
      await expect(driver.push(aJob())).rejects.toMatchObject({ code: 'SQLITE_ERROR' });
      expect(() => driver.pushSync(aJob())).toThrow(expect.objectContaining({ code: 'SQLITE_ERROR' }));
    },
  );

  it('is a closed Database, when the driver is built', () => {
    const db = new Database(':memory:');
    db.close();
    expect(() => new SqliteDriver(db)).toThrow('The Database that SqliteDriver was given is closed');
  });

  it('is a file that was moved away, and no new one is made in its place', async () => {
    const { driver, file } = await open({ tables: false });
    renameSync(file, `${file}.moved`);
    await expect(driver.push(aJob())).rejects.toMatchObject({
      code: 'store_unavailable',
      message: `${file} cannot be opened: check that the file is there and that this process may use its directory`,
    });
  });

  it('is a file that is no database', async () => {
    const file = join(aFolder(), 'app.db');
    writeFileSync(file, 'this is a text, and long enough to be taken for the header of a database by nobody at all');
    const db = new Database(file);
    onTestFinished(() => {
      db.close();
    });
    const driver = new SqliteDriver(db);
    await expect(driver.push(aJob())).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('is one that the application opened read-only; reading works', async () => {
    const { file, driver } = await open();
    await driver.push(aJob());
    const db = new Database(file, { readonly: true });
    await using reader = new SqliteDriver(db);
    expect(await reader.stats()).toHaveLength(1);
    await expect(reader.push(aJob())).rejects.toMatchObject({
      code: 'store_unavailable',
      message: `${file} cannot be written: the file, its directory or the connection given is read-only`,
    });
    db.close();
  });
});

describe('a closed driver', () => {
  it('refuses every call', async () => {
    const { driver, db } = await open();
    const job = aJob();
    const claim = { id: 1, attempts: 1, handle: '' };
    await driver.close();
    await driver.close();
    const calls: (() => Promise<unknown>)[] = [
      () => driver.push(job),
      () => driver.pushMany([job]),
      () => driver.reserve(['default'], 60, 'w'),
      () => driver.reserveMany(['default'], 2, 60, 'w'),
      () => driver.delete(claim),
      () => driver.deleteMany([claim]),
      () => driver.release(claim, 0, ''),
      () => driver.fail(claim, ''),
      () => driver.extend(claim, 60),
      () => driver.extendMany([claim], 60),
      () => driver.pending(),
      () => driver.stats(),
      () => driver.failedCount(),
      () => driver.failedRows(1),
      () => driver.retryFailed('all', 3),
      () => driver.forgetFailed('all'),
      () => driver.find(1),
      () => driver.findFailed(1),
      () => driver.onPush(['default'], () => {}),
      () => driver.createTables(),
      async () => driver.pushSync(job),
      async () => {
        db.exec('BEGIN');
        try {
          return await driver.within(db).push(job);
        } finally {
          db.exec('ROLLBACK');
        }
      },
    ];
    for (const call of calls) {
      await expect(call(), String(call)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: 'This SqliteDriver was closed',
      });
    }
    expect(db.open).toBe(true);
  });

  it('rejects what was waiting for a lock', async () => {
    const { driver, db } = await open();
    db.exec('BEGIN IMMEDIATE');
    const push = driver.push(aJob());
    const refused = expect(push).rejects.toMatchObject({ code: 'store_unavailable' });
    await setImmediate();
    await driver.close();
    await refused;
    db.exec('COMMIT');
    expect(count(db)).toBe(0);
  });

  it('is what `await using` leaves behind', async () => {
    const { db } = await open();
    const escaped = await (async () => {
      await using driver = new SqliteDriver(db);
      await driver.push(aJob());
      return driver;
    })();
    await expect(escaped.pending()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('a file that this process may not write', () => {
  it.each(['wal', 'delete'] as const)('is said to be so (%s)', async (journal) => {
    const { file, driver, db } = await open({ journal });
    await driver.close();
    db.close();
    chmodSync(dirname(file), 0o555);
    chmodSync(file, 0o444);
    expect(await messageOf(start('pushUnprivileged', file))).toStrictEqual({
      name: 'QueueError',
      code: 'store_unavailable',
      message: `${file} cannot be written: the file, its directory or the connection given is read-only`,
    });
  });
});
