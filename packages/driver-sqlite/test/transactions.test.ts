import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { SqliteDriver } from '../src/index.js';
import { aFolder, aJob, count, insertRaw, open } from './fixtures.js';

async function withNotes() {
  const opened = await open();
  opened.db.exec('CREATE TABLE notes (text)');
  return { ...opened, note: (text: string) => opened.db.prepare('INSERT INTO notes VALUES (?)').run(text) };
}

describe('within', () => {
  it('has done its work before it returns, so that nothing of it is left when a synchronous transaction ends', async () => {
    const { driver, db, note } = await withNotes();
    let pushed: Promise<number> | undefined;
    db.transaction(() => {
      note('one');
      pushed = driver.within(db).push(aJob());
      expect(count(db)).toBe(1);
    })();
    expect(count(db)).toBe(1);
    expect(await pushed).toBe(1);
  });

  it('commits and rolls back with the application’s rows', async () => {
    const { driver, db, note } = await withNotes();
    db.exec('BEGIN');
    note('gone');
    await driver.within(db).push(aJob());
    await driver.within(db).pushMany([aJob(), aJob()]);
    db.exec('ROLLBACK');
    expect([count(db), count(db, 'notes')]).toStrictEqual([0, 0]);
    db.exec('BEGIN');
    note('kept');
    await driver.within(db).pushMany([aJob(), aJob()]);
    db.exec('COMMIT');
    expect([count(db), count(db, 'notes')]).toStrictEqual([2, 1]);
  });

  it('leaves the transaction usable where the key is held and where the job is refused', async () => {
    const { driver, db, note } = await withNotes();
    db.exec('BEGIN');
    note('A');
    const inside = driver.within(db);
    const id = await inside.push(aJob({ unique: 'k' }));
    expect(await inside.push(aJob({ unique: 'k' }))).toBe(id);
    await expect(inside.push(aJob({ payload: { big: 1n } }))).rejects.toMatchObject({ code: 'payload_not_json' });
    await expect(inside.push(aJob({ payload: { long: 'x'.repeat(70_000) } }))).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    note('B');
    db.exec('COMMIT');
    expect([count(db), count(db, 'notes')]).toStrictEqual([1, 2]);
  });

  it('refuses a connection on which no transaction is open, at each call', async () => {
    const { driver, db } = await withNotes();
    const refused = { code: 'invalid_transaction', message: expect.stringContaining('No transaction is open') };
    const inside = driver.within(db);
    await expect(inside.push(aJob())).rejects.toMatchObject(refused);
    db.exec('BEGIN');
    await inside.push(aJob());
    db.exec('COMMIT');
    await expect(inside.pushMany([aJob()])).rejects.toMatchObject(refused);
    await expect(inside.delete({ id: 1, attempts: 1, handle: '' })).rejects.toMatchObject(refused);
    expect(count(db)).toBe(1);
  });

  it('refuses what is not a Database', async () => {
    const { driver, db } = await withNotes();
    const others = [undefined, null, 'BEGIN', 1, {}, [db], { prepare() {} }, db.prepare('SELECT 1'), Database];
    for (const other of others) {
      expect(() => driver.within(other as never)).toThrow(expect.objectContaining({ code: 'invalid_transaction' }));
    }
  });

  it('takes any connection to the file, and refuses one to another', async () => {
    const { driver, file } = await withNotes();
    const second = new Database(file);
    const stranger = new Database(join(aFolder(), 'other.db'));
    stranger.exec('CREATE TABLE queue_jobs (id INTEGER)');
    for (const db of [second, stranger]) db.exec('BEGIN');
    await driver.within(second).push(aJob());
    await expect(driver.within(stranger).push(aJob())).rejects.toMatchObject({
      code: 'invalid_transaction',
      message: `The Database given to within is not a connection to ${file}, where the jobs are`,
    });
    for (const db of [second, stranger]) {
      db.exec('COMMIT');
      db.close();
    }
    expect(await driver.pending()).toBe(1);
  });

  it('completes a job in the application’s transaction, behind the fence', async () => {
    const { driver, db, note } = await withNotes();
    await driver.push(aJob());
    const job = await driver.reserve(['default'], 60, 'w');
    if (job === null) return expect.unreachable();
    db.exec('BEGIN');
    note('done');
    expect(await driver.within(db).delete({ ...job, attempts: 2 })).toBe(false);
    expect(await driver.within(db).delete(job)).toBe(true);
    db.exec('ROLLBACK');
    expect(count(db)).toBe(1);
    expect(await driver.delete(job)).toBe(true);
  });

  it('takes a batch back where one of it is refused, and keeps what the application wrote', async () => {
    const { driver, db, note } = await withNotes();
    db.exec(`CREATE TRIGGER no_more BEFORE INSERT ON queue_jobs WHEN NEW.name = 'bad'
      BEGIN SELECT RAISE(ABORT, 'not this one'); END`);
    db.exec('BEGIN');
    note('A');
    await driver.within(db).push(aJob({ unique: 'k' }));
    const batch = driver.within(db).pushMany([aJob({ unique: 'k' }), aJob(), aJob(), aJob({ name: 'bad' })]);
    await expect(batch).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_TRIGGER', message: 'not this one' });
    db.exec('COMMIT');
    expect([count(db), count(db, 'notes')]).toStrictEqual([1, 1]);
  });

  it('marks an error that cost the application its transaction, and no other', async () => {
    const { driver, db, note } = await withNotes();
    const trigger = (how: string) =>
      db.exec(`DROP TRIGGER IF EXISTS refuse; CREATE TRIGGER refuse BEFORE INSERT ON queue_jobs
        BEGIN SELECT RAISE(${how}, 'no'); END`);
    trigger('ROLLBACK');
    db.exec('BEGIN');
    note('lost');
    await expect(driver.within(db).push(aJob())).rejects.toMatchObject({ message: 'no', transactionLost: true });
    expect(db.inTransaction).toBe(false);
    trigger('ABORT');
    db.exec('BEGIN');
    note('kept');
    const error = await driver
      .within(db)
      .push(aJob())
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'no' });
    expect(error).not.toHaveProperty('transactionLost');
    db.exec('COMMIT');
    expect(count(db, 'notes')).toBe(1);
    expect(() => driver.pushSync(aJob())).toThrow(expect.not.objectContaining({ transactionLost: true }));
  });

  it('passes on a lock that the application meets, and tries nothing again', async () => {
    const { driver, db, file } = await withNotes();
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    db.pragma('busy_timeout = 0');
    db.exec('BEGIN');
    await expect(driver.within(db).push(aJob())).rejects.toMatchObject({ name: 'SqliteError', code: 'SQLITE_BUSY' });
    other.exec('COMMIT');
    await driver.within(db).push(aJob());
    db.exec('COMMIT');
    expect(count(db)).toBe(1);
    other.close();
  });

  it('sends no statement that begins, ends or nests a transaction', async () => {
    const { file } = await withNotes();
    const sent: string[] = [];
    const db = new Database(file, { verbose: (sql) => sent.push(String(sql)) });
    await using driver = new SqliteDriver(db);
    db.exec('BEGIN');
    sent.length = 0;
    const inside = driver.within(db);
    await inside.pushMany([aJob({ unique: 'k' }), aJob({ unique: 'k' }), aJob()]);
    await inside.push(aJob());
    await inside.delete({ id: 1, attempts: 1, handle: '' });
    driver.pushSync(aJob());
    expect(sent.filter((sql) => /^\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)/i.test(sql))).toStrictEqual([]);
    expect(sent.map((sql) => sql.trim().split(' ')[0])).toStrictEqual([
      'INSERT',
      'INSERT',
      'SELECT',
      'INSERT',
      'INSERT',
      'DELETE',
      'INSERT',
    ]);
    db.exec('COMMIT');
    db.close();
  });
});

describe('pushSync', () => {
  it('in a transaction function of better-sqlite3 stores both or none', async () => {
    const { driver, db, note } = await withNotes();
    db.transaction(() => {
      note('A');
      driver.pushSync(aJob());
    })();
    expect([count(db), count(db, 'notes')]).toStrictEqual([1, 1]);
    const failing = db.transaction(() => {
      note('B');
      driver.pushSync(aJob());
      throw new Error('the payment was refused');
    });
    expect(failing).toThrow('the payment was refused');
    expect([count(db), count(db, 'notes')]).toStrictEqual([1, 1]);
  });

  it('in a transaction function that is async is rolled back with it: better-sqlite3 refuses the promise', async () => {
    const { driver, db, note } = await withNotes();
    const wrong = db.transaction(async () => {
      note('A');
      driver.pushSync(aJob());
    });
    expect(() => wrong()).toThrow('Transaction function cannot return a promise');
    expect([count(db), count(db, 'notes')]).toStrictEqual([0, 0]);
  });

  it('works without a transaction, with the keys of the other pushes', async () => {
    const { driver } = await withNotes();
    const id = await driver.push(aJob({ unique: 'k' }));
    expect(driver.pushSync(aJob({ unique: 'k' }))).toBe(id);
    expect(driver.pushSync(aJob())).toBeGreaterThan(id);
  });

  it('throws what is wrong with a job before it touches the database', async () => {
    const { driver, db } = await withNotes();
    expect(() => driver.pushSync(aJob({ name: '' }))).toThrow(expect.objectContaining({ code: 'invalid_text' }));
    expect(count(db)).toBe(0);
  });
});

describe('a plain push', () => {
  it('while the application has a transaction open is not rolled back with it', async () => {
    const { driver, db } = await withNotes();
    db.exec('BEGIN');
    db.prepare('SELECT * FROM notes').all();
    const id = await driver.push(aJob());
    db.exec('ROLLBACK');
    expect(count(db)).toBe(1);
    expect(await driver.find(id)).toMatchObject({ id, state: 'pending' });
  });

  it('waits for the application’s writing transaction, and stays out of it', async () => {
    const { driver, db, note } = await withNotes();
    db.exec('BEGIN IMMEDIATE');
    note('gone');
    const push = driver.push(aJob());
    await driver.within(db).push(aJob({ name: 'inside' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    db.exec('ROLLBACK');
    await push;
    expect(db.prepare('SELECT name FROM queue_jobs').pluck().all()).toStrictEqual(['send-invoice']);
    expect(count(db, 'notes')).toBe(0);
  });
});

describe('a row that another hand wrote', () => {
  it('with the required columns alone is run, released, failed and put back', async () => {
    const { driver, db } = await open();
    insertRaw(db);
    const job = await driver.reserve(['default'], 60, 'w');
    expect(job).toStrictEqual({
      id: 1,
      attempts: 1,
      handle: '',
      queue: 'default',
      name: 'send-invoice',
      payload: { invoiceId: 7 },
      payloadJson: '{"invoiceId":7}',
      maxAttempts: 3,
      reclaimed: false,
    });
    if (job === null) return;
    expect(await driver.release(job, 0, 'again')).toBe(true);
    const again = await driver.reserve(['default'], 60, 'w');
    if (again === null) return expect.unreachable();
    expect(await driver.fail(again, 'no')).toBe(true);
    expect(await driver.retryFailed('all', 1)).toBe(1);
    expect(await driver.find(2)).toMatchObject({ payloadJson: '{"invoiceId":7}', maxAttempts: 1, state: 'pending' });
  });

  it('with its payload as bytes is read as the text they are', async () => {
    const { driver, db } = await open();
    insertRaw(db, { payload: Buffer.from('{"bytes":true}') });
    expect(await driver.reserve(['default'], 60, 'w')).toMatchObject({
      payload: { bytes: true },
      payloadJson: '{"bytes":true}',
    });
  });

  it.each(['', 'null', '7', '"text"', '{', '[1,]'])(
    'with the payload %j is failed at once, its bytes kept',
    async (payload) => {
      const { driver, db } = await open();
      insertRaw(db, { payload });
      expect(await driver.reserve(['default'], 60, 'w')).toBe(null);
      expect(await driver.failedRows(5)).toMatchObject([
        { payloadJson: payload, attempts: 1, error: 'Payload is not valid JSON, so no handler could be given it' },
      ]);
      expect(count(db)).toBe(0);
    },
  );
});
