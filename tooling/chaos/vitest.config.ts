import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../vitest/base.js';

// Most of a storm is waiting, so that four stores at once are no slower than one.
export default defineConfig((env) => mergeConfig(base(env), { test: { maxWorkers: 4 } }));
