import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest/base.js';
import { TableReporter } from './src/table-reporter.js';

export default defineConfig((environment) =>
  mergeConfig(base(environment), {
    test: {
      globalSetup: [
        '@q/servers/vitest/postgres',
        '@q/servers/vitest/mariadb',
        '@q/servers/vitest/redis',
        './src/setup.ts',
      ],
      reporters: [new TableReporter()],
      maxWorkers: 2,
      // Compiling takes a minute, and many where others compile too.
      testTimeout: 1_800_000,
    },
  }),
);
