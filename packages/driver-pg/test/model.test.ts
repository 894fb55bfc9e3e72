import { describeModel } from '@q/conformance/model';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';

const few = { sequences: { runs: 30 }, schedules: { runs: 30 } };

describeModel({ describe, test }, 'PgDriver', harnessFor({ url: inject('postgres') }), few);
