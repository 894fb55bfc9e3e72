import type { ReservedJob } from '@q/core';

/** An argument or an answer, in the words of a person who has to find out what happened. */
export function told(value: unknown): string {
  if (isJob(value)) return `job ${value.id} (attempt ${value.attempts}${value.reclaimed ? ', reclaimed' : ''})`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(told).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([key, member]) => `${key}: ${told(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** A claim, as an argument. */
export function claimTold({ id, attempts }: { readonly id: number; readonly attempts: number }): string {
  return `job ${id} of attempt ${attempts}`;
}

/** A driver did otherwise than it should: the message tells all there is to know. */
export class Disagreement extends Error {}

function isJob(value: unknown): value is ReservedJob {
  return typeof value === 'object' && value !== null && 'attempts' in value && 'reclaimed' in value;
}
