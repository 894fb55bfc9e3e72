import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PgDriver } from '../src/index.js';
import { type StatementName, type StatementTexts, statementTexts } from '../src/statements.js';
import { aJob, open, useDatabase, watched } from './fixtures.js';

const database = useDatabase();
const NAMES = { table: 'queue_jobs', failedTable: 'queue_failed_jobs' };

// What Postgres can prepare: the others are commands, run by the tests of what uses them.
const COMMANDS: readonly StatementName[] = ['begin', 'commit', 'rollback', 'listen', 'dropJobs', 'dropFailed'];
const PREPARED = (Object.keys(statementTexts(NAMES)) as StatementName[]).filter((name) => !COMMANDS.includes(name));

/** A client of a database that has the tables. */
async function installed(names = NAMES): Promise<{ client: pg.Client; texts: StatementTexts }> {
  const { pool } = await open(database.url(), { tables: false });
  await pool.query('CREATE SCHEMA IF NOT EXISTS "user"');
  await new PgDriver(pool, names).createTables();
  const client = new pg.Client(database.url());
  await client.connect();
  onTestFinished(() => client.end());
  return { client, texts: statementTexts(names) };
}

describe('every statement', () => {
  it.each(PREPARED)('%s can be prepared against the installed schema', async (name) => {
    const { client, texts } = await installed();
    await client.query(`PREPARE one AS ${texts[name]}`);
  });

  it('can be prepared where schema and tables are named by words of SQL', async () => {
    const { client, texts } = await installed({ table: 'user.order', failedTable: 'user.case' });
    for (const [index, name] of PREPARED.entries()) await client.query(`PREPARE s${index} AS ${texts[name]}`);
    await client.query(texts.listen);
  });

  it('differs from one driver to the next in its table names alone', () => {
    const one = JSON.stringify(statementTexts({ table: 'aaa', failedTable: 'bbb' }));
    const other = JSON.stringify(statementTexts({ table: 'ccc', failedTable: 'ddd' }));
    expect(other.replaceAll('ccc', 'aaa').replaceAll('ddd', 'bbb')).toBe(one);
  });

  it('that changes or ends a claim is fenced by id, attempts and the claim itself', () => {
    const texts = statementTexts(NAMES);
    const one = /WHERE id = \$1::bigint AND attempts = \$2::bigint AND reserved_until IS NOT NULL/;
    for (const name of ['deleteClaim', 'release', 'fail', 'extend'] as const) expect(texts[name], name).toMatch(one);
    const many = /WHERE job.id = claim.id AND job.attempts = claim.attempts AND job.reserved_until IS NOT NULL/;
    for (const name of ['deleteClaims', 'extendMany', 'deleteAndClaim'] as const) {
      expect(texts[name], name).toMatch(many);
    }
  });

  it('casts each of its parameters, so that no value is taken for what it is not', () => {
    for (const [name, text] of Object.entries(statementTexts(NAMES))) {
      expect(text.replaceAll(/\$\d::(text|int|bigint|boolean|timestamptz)\b/g, ''), name).not.toMatch(/\$\d/);
    }
  });

  it('asks the server for neither its clock nor its zone', () => {
    expect(JSON.stringify(statementTexts(NAMES))).not.toMatch(/now\(\)|current_timestamp|clock_timestamp|localtime/i);
  });
});

describe('the round trips', () => {
  async function trips(act: (driver: PgDriver) => Promise<unknown>, prepare?: (driver: PgDriver) => Promise<unknown>) {
    const { pool, clock } = await open(database.url());
    const notes = watched(pool);
    const driver = new PgDriver(notes.pool, { now: clock.now, notify: false });
    await driver.reserve(['warm-up'], 60, 'w'); // the first look at nothing looks for stranded rows too
    await prepare?.(driver);
    notes.sent.length = 0;
    const before = notes.checkOuts();
    await act(driver);
    return [notes.sent.length, notes.checkOuts() - before];
  }
  const hold = (driver: PgDriver) =>
    driver.pushMany([aJob(), aJob(), aJob()]).then(() => driver.reserveMany(['default'], 3, 60, 'w'));
  const held = [1, 2, 3].map((id) => ({ id, attempts: 1, handle: '' }));
  const one = { id: 1, attempts: 1, handle: '' };

  it.each<[string, number, (driver: PgDriver) => Promise<unknown>]>([
    ['a push', 1, (driver) => driver.push(aJob({ unique: 'new' }))],
    ['a reserve', 1, (driver) => driver.reserve(['a', 'b', 'default'], 60, 'w')],
    ['a reserve that finds nothing in three queues', 1, (driver) => driver.reserve(['a', 'b', 'c'], 60, 'w')],
    ['a batch of claims', 1, (driver) => driver.reserveMany(['a', 'b', 'default'], 10, 60, 'w')],
    ['a delete', 1, (driver) => driver.delete(one)],
    ['a batch of deletes', 1, (driver) => driver.deleteMany(held)],
    ['a turnover', 1, (driver) => driver.deleteAndReserve(held, ['a', 'b', 'default'], 10, 60, 'w')],
    ['a release', 1, (driver) => driver.release(one, 0, '')],
    ['a fail', 1, (driver) => driver.fail(one, 'no')],
    ['an extend', 1, (driver) => driver.extend(one, 60)],
    ['a batch of extends', 1, (driver) => driver.extendMany(held, 60)],
    ['a count', 1, (driver) => driver.pending('default')],
    ['the stats', 1, (driver) => driver.stats()],
    [
      'a push of 1,000 jobs, with its transaction',
      3,
      (driver) => driver.pushMany(Array.from({ length: 1_000 }, () => aJob())),
    ],
  ])('of %s are %i, on one connection', async (_, expected, act) => {
    expect(await trips(act, hold)).toStrictEqual([expected, 1]);
  });

  it('of a push whose key is held are two: the insert and the look at the holder', async () => {
    const act = (driver: PgDriver) => driver.push(aJob({ unique: 'k' }));
    expect(await trips(act, act)).toStrictEqual([2, 1]);
  });

  it('of a push and a delete within a transaction are one each, and no other connection is taken', async () => {
    const { pool, driver } = await open(database.url());
    const notes = watched(pool);
    const client = await notes.pool.connect();
    await client.query('BEGIN');
    notes.sent.length = 0;
    const before = notes.checkOuts();
    await driver.within(client).push(aJob());
    await driver.within(client).delete(one);
    expect([notes.sent, notes.checkOuts() - before]).toStrictEqual([['WITH stored AS', 'DELETE FROM "queue_jobs"'], 0]);
    await client.query('ROLLBACK');
    client.release();
  });
});
