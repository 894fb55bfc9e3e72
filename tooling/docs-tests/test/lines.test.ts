import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as lineOf, type StopReason, type WorkerEvent, type WorkerEventTypes } from '@q/core';
import { expect, test } from 'vitest';
import { ROOT } from '../src/documents.js';
import { tableAfter } from '../src/tables.js';

const page = readFileSync(join(ROOT, 'docs/worker.md'), 'utf8');

const job = { id: 7, queue: 'default', name: 'send-invoice', attempts: 1, maxAttempts: 3 };
const error = new Error('<message>');

/** The events that the lines of the page are examples of. */
const EVENTS: { readonly [T in keyof WorkerEventTypes]: readonly WorkerEventTypes[T][] } = {
  started: [{ worker: 'worker-1', queues: ['high', 'default'] }],
  job_started: [{ job }],
  job_done: [{ job, elapsedMs: 12 }],
  job_released: [
    { job, delay: 60, why: 'handler' },
    { job, delay: 0, why: 'shutdown' },
    { job, delay: 0, why: 'chaos' },
  ],
  job_retried: [{ job, delay: 10, error, elapsedMs: 12 }],
  job_failed: [{ job, error, elapsedMs: 12 }],
  job_abandoned: [{ job, abandoned: 1 }],
  claim_lost: [{ job, outcome: 'done', eventLoopDelayMs: 900 }],
  record_failed: [{ job, error, tries: 1 }],
  job_unrecorded: [{ job, outcome: 'done', error }],
  renew_failed: [{ jobs: [job, job], error }],
  reserve_failed: [{ error, failures: 1 }],
  reserve_late: [{ jobs: [job] }],
  wakeups_failed: [{ error }],
  backoff_invalid: [{ job, error }],
  empty: [{ queues: ['default'] }],
  stopping: [{ reason: { why: 'asked' } }],
  ended: [{ ran: 12, exitCode: 0 }],
};

const STOPS: readonly StopReason[] = [
  { why: 'asked' },
  { why: 'max_jobs', ran: 12 },
  { why: 'max_time', seconds: 55 },
  { why: 'memory', megabytes: 192 },
  { why: 'unreadable', failures: 5 },
  { why: 'abandoned', handlers: 1 },
  { why: 'chaos', job },
];

test('The lines of events in docs/worker.md are what describe(event) gives', () => {
  const lines = tableAfter(page, '## Events').map(([, cell = '']) => inCode(cell));
  // The cast: a row of the table has its type, and the details of just that type.
  const events = Object.entries(EVENTS).map(([type, details]) =>
    details.map((each) => ({ type, ...each }) as WorkerEvent),
  );
  expect(lines).toEqual(events.map((each) => each.map((event) => lineOf(event))));
});

test('The lines of reasons to stop in docs/worker.md are what describe(event) gives', () => {
  const lines = tableAfter(page, '## How a run ends').flatMap(([cell = '']) => inCode(cell));
  const stops = STOPS.map((reason) => lineOf({ type: 'stopping', reason }));
  const empty = lineOf({ type: 'empty', queues: ['default'] });
  expect(lines.toSorted()).toEqual([...stops, empty].toSorted());
});

function inCode(cell: string): string[] {
  return [...cell.matchAll(/`([^`]*)`/g)].map(([, code]) => code ?? '');
}
