import { describeModel } from '@q/conformance/model';
import { describe, test } from 'vitest';
import { harnessFor } from './harness.js';
import { SERVERS } from './servers.js';

for (const { name, url } of SERVERS) {
  describeModel({ describe, test }, `MysqlDriver on ${name}`, harnessFor({ url }), {
    sequences: { runs: 40 },
    schedules: { runs: 40 },
  });
}
