import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../tooling/vitest/base.js';

export default defineConfig((environment) =>
  mergeConfig(base(environment), {
    test: { globalSetup: `@q/servers/vitest/${environment.mode === 'slow' ? 'mysql-family' : 'mariadb'}` },
  }),
);
