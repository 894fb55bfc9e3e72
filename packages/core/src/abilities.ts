import type {
  QueueBatches,
  QueueBatchLeases,
  QueueDiagnosis,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueSchema,
  QueueScratch,
  QueueSyncPush,
  QueueTransactions,
  QueueTurnover,
  QueueWakeups,
} from './driver.js';

/** The abilities beyond the six methods, and the methods that make each one up. A driver has all of them or none. */
export const ABILITIES = {
  reports: ['stats', 'failedCount', 'failedRows', 'retryFailed', 'forgetFailed'],
  transactions: ['within'],
  batches: ['pushMany', 'reserveMany', 'deleteMany'],
  leases: ['extend'],
  batchLeases: ['extendMany'],
  turnover: ['deleteAndReserve'],
  wakeups: ['onPush'],
  syncPush: ['pushSync'],
  schema: ['schema'],
  inspection: ['find', 'findFailed'],
  scratch: ['scratch'],
  diagnosis: ['diagnose'],
} as const;

export type Ability = keyof typeof ABILITIES;

interface AbilityTypes {
  reports: QueueReports;
  transactions: QueueTransactions<never>;
  batches: QueueBatches;
  leases: QueueLeases;
  batchLeases: QueueBatchLeases;
  turnover: QueueTurnover;
  wakeups: QueueWakeups;
  syncPush: QueueSyncPush;
  schema: QueueSchema;
  inspection: QueueInspection;
  scratch: QueueScratch;
  diagnosis: QueueDiagnosis;
}

export const hasReports = guard('reports');
export const hasTransactions = guard('transactions');
export const hasBatches = guard('batches');
export const hasLeases = guard('leases');
export const hasBatchLeases = guard('batchLeases');
export const hasTurnover = guard('turnover');
export const hasWakeups = guard('wakeups');
export const hasSyncPush = guard('syncPush');
export const hasSchema = guard('schema');
export const hasInspection = guard('inspection');
export const hasScratch = guard('scratch');
export const hasDiagnosis = guard('diagnosis');

/** The abilities a driver has, in the order of the table. */
export function abilitiesOf(driver: QueueDriver): Ability[] {
  return (Object.keys(ABILITIES) as Ability[]).filter((ability) => has(driver, ability));
}

function guard<A extends Ability>(ability: A) {
  return <D extends QueueDriver>(driver: D): driver is D & AbilityTypes[A] => has(driver, ability);
}

function has(driver: QueueDriver, ability: Ability): boolean {
  // The cast: a driver is asked for methods its type does not name.
  const methods = driver as unknown as Readonly<Record<string, unknown>>;
  return ABILITIES[ability].every((method) => typeof methods[method] === 'function');
}
