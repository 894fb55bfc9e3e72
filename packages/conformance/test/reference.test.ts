import { describe, test } from 'vitest';
import { describeDriver } from '../src/index.js';
import { referenceHarness } from './reference-harness.js';

describeDriver({ describe, test }, 'ReferenceDriver', referenceHarness());
