import { describe, test } from 'node:test';
import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { harness } from './harness.js';

describeDriver({ describe, test }, 'JournalDriver', harness);
describeModel({ describe, test }, 'JournalDriver', harness);
