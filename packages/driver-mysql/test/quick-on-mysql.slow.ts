// What the quick tier shows on MariaDB, on MySQL.
import type {} from '@q/servers/vitest/mysql-family';
import { inject } from 'vitest';
import { onServer } from './fixtures.js';

onServer(() => inject('mysql'));

await import('./connection.test.js');
await import('./ids.test.js');
await import('./literals.test.js');
await import('./outages.test.js');
await import('./payloads.test.js');
await import('./raw-sql.test.js');
await import('./schema.test.js');
await import('./settings.test.js');
await import('./statements.test.js');
await import('./times.test.js');
await import('./transactions.test.js');
await import('./unique.test.js');
await import('./wakeups.test.js');
