// A driver that does nothing, judged under node:test by the built package: some cases pass, some are skipped, most fail.
import { describe, test } from 'node:test';
import { describeDriver } from '@q/conformance';

const driver = {
  push: async () => 1,
  reserve: async () => null,
  delete: async () => false,
  release: async () => false,
  fail: async () => false,
  pending: async () => 0,
};

describeDriver({ describe, test }, 'DoesNothing', {
  abilities: [],
  lacks: ['insertRow', 'jobRows', 'failedRows', 'exactOrder'],
  open: async () => ({ driver, connect: async () => driver, close: async () => {} }),
});
