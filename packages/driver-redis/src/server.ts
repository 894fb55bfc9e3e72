import type { QueueWarning } from '@q/core';
import { tooOld } from './errors.js';

/** The oldest Redis with all that the scripts use. */
const OLDEST = [6, 2] as const;

/**
 * What a server says of itself, looked at once for each connection. Throws `store_unavailable` for one that is too old,
 * and warns of one that may throw jobs away. One that says nothing (its administrator forbade it) is taken as it is.
 */
export function checkServer(info: unknown, warn: (warning: QueueWarning) => void): void {
  const text = String(info);
  const version = fieldOf(text, 'redis_version');
  if (version !== null && isOlder(version)) throw tooOld(version);
  const policy = fieldOf(text, 'maxmemory_policy');
  if (policy !== null && policy !== 'noeviction') {
    warn({
      code: 'eviction_policy',
      message:
        `The eviction policy of this Redis is ${policy}, so it may throw away jobs when its memory is used up. ` +
        'Set maxmemory-policy to noeviction',
    });
  }
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** One of the lines of INFO; null where it is not there. */
export function fieldOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? null;
}
