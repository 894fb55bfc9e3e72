import { describe, expect, it } from 'vitest';
import { aJob, open, rowsOf, useDatabase } from './fixtures.js';

const database = useDatabase();

/** Each side of the hours that clocks in Europe leave out and have twice, and the ends of narrower kinds of time. */
const MOMENTS = [
  '2027-03-28T00:59:59Z',
  '2027-03-28T01:00:00Z',
  '2027-03-28T02:30:00Z',
  '2027-10-31T00:30:00Z',
  '2027-10-31T00:59:59Z',
  '2027-10-31T01:00:00Z',
  '2027-10-31T01:30:00Z',
  '2038-01-19T03:14:08Z',
  '2106-02-07T06:28:16Z',
  '9999-12-31T23:59:00Z',
];

describe.each([
  ['+00:00', 'local'],
  ['-08:00', 'Z'],
  ['+05:45', '+05:45'],
  ['+13:00', '-08:00'],
])('with a session in the zone %s and a pool in the zone %s', (session, timezone) => {
  async function openThere() {
    const opened = await open(database.url(), { pool: { timezone } });
    opened.pool.on('connection', (connection) => connection.query(`SET time_zone = '${session}'`));
    return opened;
  }

  it('moments are stored as they are, read back as they are, and jobs come in their order', async () => {
    const { pool, driver, clock } = await openThere();
    const ids: number[] = [];
    for (const moment of MOMENTS) {
      clock.set(moment);
      ids.push(await driver.push(aJob()));
    }
    expect(await rowsOf(pool, 'SELECT available_at FROM queue_jobs ORDER BY id')).toStrictEqual(
      MOMENTS.map((moment) => [moment.replace('T', ' ').replace('Z', '')]),
    );
    for (const [index, moment] of MOMENTS.entries()) {
      const job = await driver.find(ids[index] ?? 0);
      expect(job?.availableAt.getTime(), moment).toBe(Date.parse(moment));
    }
    expect((await driver.reserveMany(['default'], 20, 60, 'w')).map(({ id }) => id)).toStrictEqual(ids);
  });

  it('a failure is forgotten by the moment at which it failed', async () => {
    const { driver, clock } = await openThere();
    for (const moment of MOMENTS.slice(3, 7)) {
      clock.set(moment);
      await driver.push(aJob());
      const job = await driver.reserve(['default'], 60, 'w');
      if (job !== null) await driver.fail(job, moment);
    }
    expect((await driver.failedRows(9)).map(({ error }) => error)).toStrictEqual(MOMENTS.slice(3, 7).toReversed());
    expect(await driver.forgetFailed({ before: new Date('2027-10-31T01:00:00Z') })).toBe(2);
    expect((await driver.failedRows(9)).map(({ error }) => error)).toStrictEqual(MOMENTS.slice(5, 7).toReversed());
  });
});

describe('a second', () => {
  it.each([
    ['.050', 1],
    ['.500', 1],
    ['.950', 1],
    ['.000', 0],
  ])('is never cut short: a delay that begins at %s of one is over when it is, and not before', async (part, more) => {
    const { driver, clock } = await open(database.url());
    clock.set(`2031-05-17T10:20:30${part}Z`);
    await driver.push(aJob({ delay: 5 }));
    clock.set(`2031-05-17T10:20:3${4 + more}.999Z`);
    expect(await driver.reserve(['default'], 60, 'w')).toBeNull();
    clock.set(`2031-05-17T10:20:3${5 + more}.000Z`);
    expect(await driver.reserve(['default'], 60, 'w')).not.toBeNull();
  });

  it('is not rounded by the server: a push is due at once at every part of one', async () => {
    const { driver, clock } = await open(database.url());
    for (const part of ['000', '001', '499', '500', '999']) {
      clock.set(`2031-05-17T10:20:30.${part}Z`);
      await driver.push(aJob());
      expect(await driver.pending()).toBe(1);
      const job = await driver.reserve(['default'], 60, 'w');
      expect(job !== null && (await driver.delete(job))).toBe(true);
    }
  });
});

describe('forgetting', () => {
  it.each(['0001-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '+275760-09-13T00:00:00Z'])(
    'takes every moment that JavaScript has: %s',
    async (moment) => {
      const { driver } = await open(database.url());
      await driver.push(aJob());
      const job = await driver.reserve(['default'], 60, 'w');
      if (job !== null) await driver.fail(job, 'no');
      expect(await driver.forgetFailed({ before: new Date(moment) })).toBe(Date.parse(moment) > 0 ? 1 : 0);
    },
  );

  it('goes page by page, and counts them all', async () => {
    const { pool, driver } = await open(database.url());
    const failure = "('a', '{}', '', '2031-01-01 00:00:00')";
    const insert = 'INSERT INTO queue_failed_jobs (name, payload, error, failed_at) VALUES ';
    await pool.query(insert + Array(2_345).fill(failure).join());
    await pool.query(`${insert}('b', '{}', '', '2031-02-01 00:00:00')`);
    expect(await driver.forgetFailed({ before: new Date('2031-02-01T00:00:00Z') })).toBe(2_345);
    await pool.query(insert + Array(1_000).fill(failure).join());
    expect([await driver.forgetFailed('all'), await driver.failedCount()]).toStrictEqual([1_001, 0]);
  });
});
