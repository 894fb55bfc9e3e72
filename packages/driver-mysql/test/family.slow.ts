// The suite on every server of the family, and on MariaDB once for each thing an application may do to its pool and its
// sessions, and on the oldest client.
import { describeDriver } from '@q/conformance';
import type mysql from 'mysql2';
import oldest from 'mysql2-oldest';
import { describe, expect, inject, test } from 'vitest';
import { harnessFor, type StoreKind } from './harness.js';
import { HOSTILE_POOLS } from './pools.js';
import { SERVERS } from './servers.js';

process.env.TZ = 'America/New_York';

test('The process is in New York', () => {
  expect(new Date('2031-07-01T00:00:00').getTimezoneOffset()).toBe(240);
});

for (const { name, url } of SERVERS) {
  if (name !== 'MariaDB') describeDriver({ describe, test }, `MysqlDriver on ${name}`, harnessFor({ url }));
}

const mariadb = () => inject('mariadb');
const KINDS: Readonly<Record<string, StoreKind>> = {
  ...Object.fromEntries(Object.entries(HOSTILE_POOLS).map(([name, kind]) => [name, { ...kind, url: mariadb }])),
  'the oldest mysql2 (3.11.0)': { url: mariadb, client: oldest as unknown as typeof mysql },
  'sessions without autocommit': { url: mariadb, onConnection: ['SET autocommit = 0'] },
  'sessions at SERIALIZABLE': { url: mariadb, onConnection: ['SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE'] },
};

for (const [name, kind] of Object.entries(KINDS)) {
  describeDriver({ describe, test }, `MysqlDriver on a pool with ${name}`, harnessFor(kind));
}
