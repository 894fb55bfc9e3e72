export { describeModel, type ModelOptions } from './describe-model.js';
export { ModelFailure, type PropertyOptions, type PropertyResult } from './property.js';
export { runSchedules } from './schedules.js';
export { runSequences, type SequenceOptions } from './sequences.js';
