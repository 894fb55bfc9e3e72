/// <reference types="node" preserve="true" />
export {
  ABILITIES,
  type Ability,
  abilitiesOf,
  hasBatches,
  hasBatchLeases,
  hasDiagnosis,
  hasInspection,
  hasLeases,
  hasReports,
  hasSchema,
  hasScratch,
  hasSyncPush,
  hasTransactions,
  hasTurnover,
  hasWakeups,
} from './abilities.js';
export { type Backoff, DEFAULT_BACKOFF } from './backoff.js';
export type {
  Claim,
  FailedJob,
  FailedSelection,
  Finding,
  InTransaction,
  JobState,
  NewJob,
  Payload,
  QueueBatches,
  QueueBatchLeases,
  QueueDiagnosis,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueSchema,
  QueueScratch,
  QueueStats,
  QueueSyncPush,
  QueueTransactions,
  QueueTurnover,
  QueueWakeups,
  QueueWarning,
  ReservedJob,
  Scratch,
  ScratchOptions,
  Turnover,
} from './driver.js';
export { ClaimLost, isQueueError, JobAborted, QUEUE_ERROR_CODES, QueueError, type QueueErrorCode } from './errors.js';
export {
  describe,
  type JobRef,
  type StopReason,
  type WorkerEvent,
  type WorkerEventOf,
  type WorkerEventType,
  type WorkerEventTypes,
} from './events.js';
export {
  defineHandlers,
  type Handler,
  type Handlers,
  handler,
  type JobDeclaration,
  job,
  type PayloadOf,
  type TxOf,
} from './handlers.js';
export type { Job } from './job.js';
export type { GuardMode } from './push-guard.js';
export {
  type PushItem,
  type PushOptions,
  Queue,
  type QueueBase,
  type QueueInTransaction,
  type QueueOptions,
} from './queue.js';
export type { WorkerChaos } from './worker/chaos.js';
export type { Clock } from './worker/clock.js';
export type { WorkerOptions, WorkSource } from './worker/options.js';
export { Worker } from './worker.js';
