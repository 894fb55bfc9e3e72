/// <reference types="node" preserve="true" />
export { type Config, type ConfiguredQueue, defineConfig, type WorkerDefaults } from './define-config.js';
