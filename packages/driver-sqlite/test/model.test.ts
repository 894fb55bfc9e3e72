import { describeModel } from '@q/conformance/model';
import { describe, test } from 'vitest';
import { harnessFor } from './harness.js';

// A few of each, so that the quick tests stay quick; model.slow.ts plays thousands.
describeModel({ describe, test }, 'SqliteDriver in memory', harnessFor({ journal: 'memory' }), {
  sequences: { runs: 100 },
  schedules: { runs: 50 },
});
describeModel({ describe, test }, 'SqliteDriver on a file in WAL', harnessFor({ journal: 'wal' }), {
  sequences: { runs: 20 },
  schedules: { runs: 50 },
});
