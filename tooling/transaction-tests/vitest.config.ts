import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest/base.js';

export default defineConfig((environment) =>
  mergeConfig(base(environment), {
    test: { globalSetup: ['@q/servers/vitest/postgres', '@q/servers/vitest/mariadb', './test/prisma-clients.ts'] },
  }),
);
