import { describeDriver } from '@q/conformance';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';

describeDriver({ describe, test }, 'PgDriver', harnessFor({ url: inject('postgres') }));
