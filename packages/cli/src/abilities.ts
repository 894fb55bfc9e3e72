import { hasInspection, hasReports, type QueueDriver, type QueueInspection, type QueueReports } from '@q/core';
import type { Config } from './define-config.js';
import { refused } from './errors.js';

/** The reports of the config's driver. Throws (exit code 2) where it has none. */
export function reportsOf({ queue }: Config, command: string): QueueReports {
  if (hasReports(queue.driver)) return queue.driver;
  throw refused(`${nameOf(queue.driver)} keeps no reports, so there is no ${command} on it`);
}

/** What the config's driver tells of single jobs. Throws (exit code 2) where it tells nothing. */
export function inspectionOf({ queue }: Config, command: string): QueueInspection {
  if (hasInspection(queue.driver)) return queue.driver;
  throw refused(`${nameOf(queue.driver)} cannot look up a job, so there is no ${command} on it`);
}

/** What a driver is called in a sentence. */
export function nameOf(driver: QueueDriver): string {
  const { name } = driver.constructor;
  return name === '' || name === 'Object' ? 'This driver' : name;
}
