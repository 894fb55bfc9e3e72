import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../tooling/vitest/base.js';

export default defineConfig((environment) =>
  // Most of the time is spent waiting for the command's own process: two files at a time, on two cores too.
  mergeConfig(base(environment), {
    test: { globalSetup: ['@q/servers/vitest/postgres', '@q/servers/vitest/redis'], maxWorkers: 2 },
  }),
);
