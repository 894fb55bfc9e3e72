// What the quick tier shows on MariaDB, on MySQL: but for outages and wakeups, which the slow tier and the suite have too.
import type {} from '@q/servers/vitest/mysql-family';
import { inject } from 'vitest';
import { onServer } from './fixtures.js';

onServer(() => inject('mysql'));

await import('./connection.test.js');
await import('./ids.test.js');
await import('./literals.test.js');
await import('./payloads.test.js');
await import('./raw-sql.test.js');
await import('./schema.test.js');
await import('./settings.test.js');
await import('./statements.test.js');
await import('./times.test.js');
await import('./transactions.test.js');
await import('./unique.test.js');
