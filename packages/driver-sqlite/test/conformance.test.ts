import { describeDriver } from '@q/conformance';
import { describe, test } from 'vitest';
import { harnessFor } from './harness.js';

describeDriver({ describe, test }, 'SqliteDriver on a file in WAL', harnessFor({ journal: 'wal' }));
describeDriver({ describe, test }, 'SqliteDriver in memory', harnessFor({ journal: 'memory' }));
describeDriver(
  { describe, test },
  'SqliteDriver on a file in journal mode DELETE, with defaultSafeIntegers',
  harnessFor({ journal: 'delete', safeIntegers: true }),
);
