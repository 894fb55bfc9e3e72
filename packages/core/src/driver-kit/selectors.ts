import type { FailedSelection } from '../driver.js';
import { QueueError } from '../errors.js';
import { checkInteger, kindOf } from '../limits.js';

/** Which failed jobs to requeue: one, or `'all'`. Anything else is `invalid_selector`, so that no slip requeues the lot. */
export function checkRetrySelection(which: unknown): { readonly id: number } | 'all' {
  if (which === 'all') return 'all';
  if (isRecord(which) && Object.keys(which).length === 1 && Object.hasOwn(which, 'id')) {
    return { id: checkInteger('The id of a failed job', which.id) };
  }
  throw refusal(which, "{ id } or 'all'");
}

/** Which failed jobs to delete: one, those before a moment, or `'all'`. Anything else is `invalid_selector`. */
export function checkForgetSelection(which: unknown): FailedSelection {
  if (which === 'all') return 'all';
  if (isRecord(which) && Object.keys(which).length === 1) {
    if (Object.hasOwn(which, 'id')) return { id: checkInteger('The id of a failed job', which.id) };
    const before = which.before;
    if (before instanceof Date && !Number.isNaN(before.getTime())) return { before };
  }
  throw refusal(which, "{ id }, { before: Date } or 'all'");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function refusal(which: unknown, forms: string): QueueError {
  const got = isRecord(which) ? `an object with ${Object.keys(which).join(', ') || 'no properties'}` : kindOf(which);
  return new QueueError('invalid_selector', `Failed jobs are selected with ${forms}; got ${got}. Nothing was changed`);
}
