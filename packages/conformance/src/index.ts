export type { CaseContext, ConformanceCase } from './case.js';
export { CASES } from './cases/index.js';
export { Clock } from './clock.js';
export { describeDriver, type Runner, type TestFunction } from './describe-driver.js';
export { ConformanceFailure } from './failure.js';
export {
  type Harness,
  type JobRow,
  type Need,
  type NewRow,
  type OpenOptions,
  type TestStore,
  type TestTransaction,
  TRAITS,
  type Trait,
} from './harness.js';
export { CASE_TIMEOUT_MS } from './in-time.js';
export { RULES, type RuleId } from './rules.js';
export { type CaseResult, type RunOptions, runCase, runConformance, whySkipped } from './run.js';
