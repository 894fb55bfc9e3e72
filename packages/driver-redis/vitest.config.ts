import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../tooling/vitest/base.js';

export default defineConfig((environment) =>
  mergeConfig(base(environment), {
    test: {
      globalSetup: '@q/servers/vitest/redis',
      // Most of the quick tests' time is spent waiting: two files at a time, on two cores too.
      ...(environment.mode === 'slow' ? {} : { maxWorkers: 2 }),
    },
  }),
);
