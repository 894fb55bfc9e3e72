export type { CaseResult } from '../run.js';
export { type Checkup, type ExamineOptions, examine } from './examine.js';
