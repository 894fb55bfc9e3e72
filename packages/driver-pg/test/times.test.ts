import { describe, expect, it } from 'vitest';
import { aJob, open, useDatabase } from './fixtures.js';

const database = useDatabase();

/** Each side of the hours that clocks in Europe leave out and have twice, and the ends of narrower kinds of time. */
const MOMENTS = [
  '2027-03-28T00:59:59Z',
  '2027-03-28T01:00:00Z',
  '2027-03-28T01:30:00Z',
  '2027-10-31T00:30:00Z',
  '2027-10-31T00:59:59Z',
  '2027-10-31T01:00:00Z',
  '2027-10-31T01:30:00Z',
  '2038-01-19T03:14:08Z',
  '2106-02-07T06:28:16Z',
  '9999-12-31T23:59:00Z',
];

describe.each(['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Kathmandu'])(
  'in a session of the zone %s',
  (zone) => {
    it('moments are stored as they are, read back as they are, and jobs come in their order', async () => {
      const options = `-c timezone=${zone} -c datestyle=SQL,MDY`;
      const { pool, driver, clock } = await open(database.url(), { pool: { options } });
      const ids: number[] = [];
      for (const moment of MOMENTS) {
        clock.set(moment);
        ids.push(await driver.push(aJob()));
      }
      const { rows } = await pool.query(
        'SELECT extract(epoch FROM available_at)::bigint::text AS s FROM queue_jobs ORDER BY id',
      );
      expect(rows.map(({ s }) => Number(s) * 1000)).toStrictEqual(MOMENTS.map((moment) => Date.parse(moment)));
      for (const [index, moment] of MOMENTS.entries()) {
        const job = await driver.find(ids[index] ?? 0);
        expect(job?.availableAt.getTime(), moment).toBe(Date.parse(moment));
      }
      expect((await driver.reserveMany(['default'], 20, 60, 'w')).map(({ id }) => id)).toStrictEqual(ids);
    });

    it('a failure is forgotten by the moment at which it failed', async () => {
      const options = `-c timezone=${zone}`;
      const { driver, clock } = await open(database.url(), { pool: { options } });
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
  },
);
