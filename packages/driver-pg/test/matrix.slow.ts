// The suite, once for each thing that an application may do to its process and its sessions, and on the oldest client.
// What an application may do all at once is hostile.test.ts.
import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import pg from 'pg';
import oldest from 'pg-oldest';
import { describe, expect, inject, test } from 'vitest';
import { harnessFor, type StoreKind } from './harness.js';

process.env.TZ = 'America/New_York';
// To what an application would sensibly want, and then to nonsense.
for (const oid of [20, 1114, 1184, 114, 3802]) pg.types.setTypeParser(oid, () => ({ parsed: oid }));

const url = inject('postgres');
const repeatable = '-c default_transaction_isolation=repeatable\\ read';
const serializable = '-c default_transaction_isolation=serializable';

test('The process is in New York, and int8 is an object', async () => {
  const pool = new pg.Pool({ connectionString: url });
  const { rows } = await pool.query('SELECT 1::int8 AS one');
  await pool.end();
  expect([new Date('2031-07-01T00:00:00').getTimezoneOffset(), rows[0].one]).toStrictEqual([240, { parsed: 20 }]);
});

const kinds: Readonly<Record<string, StoreKind>> = {
  'in New York with strange parsers': { url },
  'at REPEATABLE READ': { url, isolated: true, pool: { options: repeatable } },
  'at SERIALIZABLE': { url, isolated: true, pool: { options: serializable } },
  'on pg 8.11.0': { url, Pool: oldest.Pool },
};

for (const [name, kind] of Object.entries(kinds)) {
  describeDriver({ describe, test }, `PgDriver ${name}`, harnessFor(kind));
  describeModel({ describe, test }, `PgDriver ${name}`, harnessFor(kind), {
    sequences: { runs: 100 },
    schedules: { runs: 100 },
  });
}
