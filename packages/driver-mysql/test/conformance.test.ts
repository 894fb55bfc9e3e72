import { describeDriver } from '@q/conformance';
import { describe, inject, test } from 'vitest';
import { harnessFor } from './harness.js';

describeDriver({ describe, test }, 'MysqlDriver', harnessFor({ url: () => inject('mariadb') }));
