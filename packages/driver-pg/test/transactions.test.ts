import type pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PgDriver } from '../src/index.js';
import { aJob, count, open, until, useDatabase, waiting } from './fixtures.js';

const database = useDatabase();

/** A client with a transaction of the application's open. */
async function begin(pool: pg.Pool, how = 'BEGIN'): Promise<pg.PoolClient> {
  const client = await pool.connect();
  await client.query(how);
  onTestFinished(async () => {
    await client.query('ROLLBACK').catch(() => {});
    client.release();
  });
  return client;
}

async function openWithNotes(options: Parameters<typeof open>[1] = {}) {
  const opened = await open(database.url(), options);
  await opened.pool.query(
    'DROP TABLE IF EXISTS notes; CREATE TABLE notes (id bigserial PRIMARY KEY, text text NOT NULL)',
  );
  return opened;
}

async function refusalOf(call: Promise<unknown>): Promise<Error & { transactionLost?: true; code?: string }> {
  return call.then(
    () => {
      throw new Error('it was not refused');
    },
    (error) => error,
  );
}

describe('within a transaction of the application', () => {
  it('duplicates and bad input cost nothing: what was before and what comes after is committed', async () => {
    const { pool, driver } = await openWithNotes();
    const client = await begin(pool);
    const within = driver.within(client);
    await client.query("INSERT INTO notes (text) VALUES ('a')");
    const first = await within.push(aJob({ unique: 'k' }));
    expect(await within.push(aJob({ unique: 'k' }))).toBe(first);
    await refusalOf(within.push(aJob({ payload: { id: 1n } })));
    await refusalOf(within.push(aJob({ payload: { text: 'x'.repeat(70_000_000) } })));
    await refusalOf(within.push(aJob({ name: 'a\0' })));
    await refusalOf(within.push(aJob({ unique: '\ud800' })));
    await refusalOf(within.pushMany([aJob(), aJob({ queue: '' })]));
    await refusalOf(within.delete({ id: {}, attempts: 1, handle: '' } as never));
    expect(await within.delete({ id: 99, attempts: 2 ** 40, handle: '' })).toBe(false);
    await client.query("INSERT INTO notes (text) VALUES ('b')");
    expect((await client.query('COMMIT')).command).toBe('COMMIT');
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([2, 1]);
  });

  it('the loser of a race for a key waits, gets the holder’s id, and goes on', async () => {
    const { pool, driver } = await openWithNotes();
    const [one, other] = [await begin(pool), await begin(pool)];
    const holder = await driver.within(one).push(aJob({ unique: 'k' }));
    await other.query("INSERT INTO notes (text) VALUES ('of the loser')");
    const loser = driver.within(other).push(aJob({ unique: 'k' }));
    await until('the loser waits', async () => (await waiting(pool)) === 1);
    await one.query('COMMIT');
    expect(await loser).toBe(holder);
    await driver.within(other).push(aJob());
    expect((await other.query('COMMIT')).command).toBe('COMMIT');
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 2]);
  });

  it('a wait that lock_timeout ends is that error, and not a duplicate', async () => {
    const { pool, driver } = await openWithNotes();
    const [one, other] = [await begin(pool), await begin(pool)];
    await driver.within(one).push(aJob({ unique: 'k' }));
    await other.query("SET LOCAL lock_timeout = '100ms'");
    expect(await refusalOf(driver.within(other).push(aJob({ unique: 'k' })))).toMatchObject({ code: '55P03' });
  });

  it('a deadlock is passed on untouched, marked as having cost the transaction, and nothing is sent after it', async () => {
    const { pool, driver } = await openWithNotes();
    const [one, other] = [await begin(pool), await begin(pool)];
    for (const client of [one, other]) {
      await client.query("SET LOCAL deadlock_timeout = '20ms'");
      await client.query("INSERT INTO notes (text) VALUES ('mine')");
    }
    await driver.within(one).push(aJob({ unique: 'a' }));
    await driver.within(other).push(aJob({ unique: 'b' }));
    const end = async (client: pg.PoolClient, unique: string) => {
      try {
        await driver.within(client).push(aJob({ unique }));
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
    };
    const ends = await Promise.allSettled([end(one, 'b'), end(other, 'a')]);
    const refused = ends.filter((end) => end.status === 'rejected');
    expect(refused.map(({ reason }) => [reason.code, reason.transactionLost])).toStrictEqual([['40P01', true]]);
    expect([await count(pool, 'notes'), await count(pool)]).toStrictEqual([1, 2]);
  });

  it('batches that share keys in opposite orders wait for each other and never deadlock', async () => {
    const { pool, driver } = await openWithNotes();
    const keys = Array.from({ length: 900 }, (_, n) => `k${n}`);
    for (let round = 0; round < 4; round += 1) {
      const push = async (order: readonly string[]) => {
        const client = await pool.connect();
        await client.query('BEGIN');
        const ids = await driver.within(client).pushMany(order.map((unique) => aJob({ unique: `${round} ${unique}` })));
        await client.query('COMMIT');
        client.release();
        return ids;
      };
      const [mine, theirs] = await Promise.all([push(keys), push(keys.toReversed())]);
      expect(mine).toStrictEqual(theirs?.toReversed());
    }
    expect(await count(pool)).toBe(3_600);
  });

  it('above READ COMMITTED a holder that the snapshot does not show is 40001, untouched and marked', async () => {
    const { pool, driver } = await openWithNotes();
    const client = await begin(pool, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT 1');
    await driver.push(aJob({ unique: 'k' }));
    const error = await refusalOf(driver.within(client).push(aJob({ unique: 'k' })));
    expect([error.code, error.transactionLost, error.name]).toStrictEqual(['40001', true, 'error']);
  });

  it('other errors are passed on untouched, and say nothing of the transaction: a savepoint may save it', async () => {
    const { pool, driver } = await openWithNotes();
    await pool.query("ALTER TABLE queue_jobs ADD CONSTRAINT no_mail CHECK (queue <> 'mail')");
    onTestFinished(() => pool.query('ALTER TABLE queue_jobs DROP CONSTRAINT no_mail').then(() => {}));
    const client = await begin(pool);
    await client.query('SAVEPOINT mine');
    const error = await refusalOf(driver.within(client).push(aJob({ queue: 'mail' })));
    expect([error.code, error.transactionLost]).toStrictEqual(['23514', undefined]);
    await client.query('ROLLBACK TO SAVEPOINT mine');
    await driver.within(client).push(aJob());
    expect((await client.query('COMMIT')).command).toBe('COMMIT');
  });

  it('a job is late by nothing that the transaction took before its push', async () => {
    const { pool, driver, clock } = await openWithNotes();
    const client = await begin(pool);
    clock.advance(30);
    const id = await driver.within(client).push(aJob({ delay: 2 }));
    await client.query('COMMIT');
    expect((await driver.find(id))?.createdAt.toISOString()).toBe(clock.now().toISOString());
    expect((await driver.find(id))?.availableAt.getTime()).toBe(clock.now().getTime() + 2_000);
  });
});

describe('what within takes', () => {
  const job = aJob();

  it('is a client with a transaction open, and no pool: neither for the compiler nor at run time', async () => {
    const { pool, driver } = await openWithNotes();
    // @ts-expect-error: each statement of a pool may go to another connection.
    expect(() => driver.within(pool)).toThrow('a Pool gives each statement to another one');
    // @ts-expect-error
    expect(() => driver.within({ query: () => {} })).toThrow(
      'within takes a Client or PoolClient of pg; got an object',
    );
    const client = await pool.connect();
    const plain: pg.Client = client;
    expect(() => driver.within(plain)).toThrow('No transaction is open on the client given to within');
    // Sent before the push, though not answered yet.
    const begun = client.query('BEGIN');
    const pushed = driver.within(client).push(job);
    await Promise.all([begun, pushed]);
    await client.query('ROLLBACK');
    client.release();
    expect(await count(pool)).toBe(0);
  });

  it('is looked at again at each call: a transaction that has ended takes no more pushes', async () => {
    const { pool, driver } = await openWithNotes();
    const client = await begin(pool);
    const within: ReturnType<PgDriver['within']> = driver.within(client);
    await client.query('COMMIT');
    expect(await refusalOf(within.push(job))).toMatchObject({ code: 'invalid_transaction' });
    expect(await count(pool)).toBe(0);
  });
});
