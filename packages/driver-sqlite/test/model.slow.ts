import { describeModel } from '@q/conformance/model';
import { describe, test } from 'vitest';
import { harnessFor } from './harness.js';

describeModel({ describe, test }, 'SqliteDriver in memory', harnessFor({ journal: 'memory' }), {
  sequences: { runs: 5_000 },
  schedules: { runs: 1_000 },
});
describeModel({ describe, test }, 'SqliteDriver on a file in WAL', harnessFor({ journal: 'wal' }), {
  sequences: { runs: 250 },
  schedules: { runs: 500 },
});
