export { default } from '../../tooling/vitest/base.js';
