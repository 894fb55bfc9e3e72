import { describeModel } from '@q/conformance/model';
import type mysql from 'mysql2/promise';
import { describe, inject, test } from 'vitest';
import { claiming, watched } from './fixtures.js';
import { harnessFor } from './harness.js';

const few = { sequences: { runs: 15 }, schedules: { runs: 15 } };
const url = () => inject('mariadb');

describeModel({ describe, test }, 'MysqlDriver', harnessFor({ url }), few);

// As in unlocked.test.ts.
const old = (pool: { promise(): unknown }) =>
  watched(pool.promise() as unknown as mysql.Pool, { before: claiming('10.5.22-MariaDB') }).pool;
describeModel({ describe, test }, 'MysqlDriver without SKIP LOCKED', harnessFor({ url, wrap: old }), few);
