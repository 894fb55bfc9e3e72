// Everything an application may do to its process and its sessions, at once: its zone, the type parsers of the whole
// process, and sessions whose zone, date style and isolation are not what one expects.
import { describeDriver } from '@q/conformance';
import pg from 'pg';
import { describe, expect, inject, it, test } from 'vitest';
import { harnessFor } from './harness.js';

process.env.TZ = 'America/New_York';
for (const oid of [16, 20, 21, 23, 25, 114, 701, 1043, 1082, 1114, 1184, 1700, 3802]) {
  pg.types.setTypeParser(oid, () => {
    throw new Error(`the parser of type ${oid} was asked`);
  });
}

const options = [
  'default_transaction_isolation=serializable',
  'timezone=Asia/Kathmandu',
  'datestyle=German,DMY',
  'intervalstyle=iso_8601',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');
const types = {
  getTypeParser: () => () => {
    throw new Error('a parser of the pool was asked');
  },
};

describeDriver(
  { describe, test },
  'PgDriver in a hostile application',
  harnessFor({ url: inject('postgres'), isolated: true, pool: { options, types: types as never } }),
);

describe('the application', () => {
  it('is as hostile as it says', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgres'), options });
    const texts = { getTypeParser: () => String };
    const text =
      "SELECT current_setting('timezone') AS a, current_setting('transaction_isolation') AS b, now()::text AS c";
    const { rows } = await pool.query({ text, types: texts as never });
    expect([rows[0].a, rows[0].b]).toStrictEqual(['Asia/Kathmandu', 'serializable']);
    expect(rows[0].c).toMatch(/^\d\d\.\d\d\.\d{4} .* \+0545$/);
    await expect(pool.query('SELECT now()')).rejects.toThrow('the parser of type 1184 was asked');
    expect(new Date('2031-07-01T00:00:00').getTimezoneOffset()).toBe(240);
    await pool.end();
  });
});
