import { expect, describe as group, it } from 'vitest';
import { describe, type JobRef, type StopReason, type WorkerEvent, type WorkerEventType } from '../src/index.js';

const job: JobRef = { id: 1201, queue: 'mail', name: 'send-invoice', attempts: 1, maxAttempts: 3 };
const error = new Error('no route to host\n    at the second line');

const lines: [string, WorkerEvent][] = [
  ['Worker web-1:77 watching high, default', { type: 'started', worker: 'web-1:77', queues: ['high', 'default'] }],
  ['Worker web-1:77 watching default', { type: 'started', worker: 'web-1:77', queues: ['default'] }],
  ['-> send-invoice #1201 (attempt 1/3)', { type: 'job_started', job }],
  ['-> send-invoice #1201 (attempt 7/3)', { type: 'job_started', job: { ...job, attempts: 7 } }],
  ['   done in 214ms', { type: 'job_done', job, elapsedMs: 214 }],
  ['   done in 0ms', { type: 'job_done', job, elapsedMs: 0.4 }],
  ['   done in 1235ms', { type: 'job_done', job, elapsedMs: 1_234.5678 }],
  ['   released, back in 45s', { type: 'job_released', job, delay: 45, why: 'handler' }],
  ['   released, back in 0s', { type: 'job_released', job, delay: 0, why: 'handler' }],
  ['   put back, the worker is leaving', { type: 'job_released', job, delay: 0, why: 'shutdown' }],
  ['   put back by chaos', { type: 'job_released', job, delay: 0, why: 'chaos' }],
  ['   failed, retrying in 90s: no route to host', { type: 'job_retried', job, delay: 90, error, elapsedMs: 5 }],
  ['   failed, retrying in 0s: undefined', { type: 'job_retried', job, delay: 0, error: undefined, elapsedMs: 5 }],
  ['   failed for good: no route to host', { type: 'job_failed', job, error, elapsedMs: 5 }],
  ['   failed for good: socket closed', { type: 'job_failed', job, error: 'socket closed', elapsedMs: 5 }],
  [
    'error: send-invoice #1201 did not settle in its grace and was abandoned',
    { type: 'job_abandoned', job, abandoned: 1 },
  ],
  [
    'error: send-invoice #1201 was done, but its claim had been lost',
    { type: 'claim_lost', job, outcome: 'done', eventLoopDelayMs: 199 },
  ],
  [
    'error: send-invoice #1201 was retried, but its claim had been lost (the event loop was blocked for 61000ms)',
    { type: 'claim_lost', job, outcome: 'retried', eventLoopDelayMs: 61_000.2 },
  ],
  [
    'error: could not record the outcome of send-invoice #1201: no route to host',
    { type: 'record_failed', job, error, tries: 2 },
  ],
  [
    'error: send-invoice #1201 was failed, which could not be recorded; it will run again: no route to host',
    { type: 'job_unrecorded', job, outcome: 'failed', error },
  ],
  ['error: could not renew 1 claim: no route to host', { type: 'renew_failed', jobs: [job], error }],
  ['error: could not renew 2 claims: no route to host', { type: 'renew_failed', jobs: [job, job], error }],
  ['error: could not reserve a job: no route to host', { type: 'reserve_failed', error, failures: 1 }],
  [
    'error: a reserve answered too late, or with too much; put back send-invoice #1201, ping #7',
    { type: 'reserve_late', jobs: [job, { ...job, id: 7, name: 'ping' }] },
  ],
  ['error: no wakeups, polling instead: no route to host', { type: 'wakeups_failed', error }],
  ['error: no usable backoff for send-invoice #1201: no route to host', { type: 'backoff_invalid', job, error }],
  ['Nothing left to do', { type: 'empty', queues: ['default'] }],
  ['Ran 0 jobs', { type: 'ended', ran: 0, exitCode: 0 }],
  ['Ran 1 job', { type: 'ended', ran: 1, exitCode: 0 }],
  ['Ran 12 jobs', { type: 'ended', ran: 12, exitCode: 1 }],
];

const stops: [string, StopReason][] = [
  ['asked to shut down', { why: 'asked' }],
  ['ran 12 jobs', { why: 'max_jobs', ran: 12 }],
  ['ran 1 job', { why: 'max_jobs', ran: 1 }],
  ['been going for 55s', { why: 'max_time', seconds: 55 }],
  ['using 192MB', { why: 'memory', megabytes: 192 }],
  ['the queue has been unreadable five times running', { why: 'unreadable', failures: 5 }],
  ['the queue has been unreadable 3 times running', { why: 'unreadable', failures: 3 }],
  ['1 abandoned handler is still running', { why: 'abandoned', handlers: 1 }],
  ['chaos kills the process after send-invoice #1201', { why: 'chaos', job }],
  ['2 abandoned handlers are still running', { why: 'abandoned', handlers: 2 }],
];

group('the line of an event', () => {
  it.each(lines)('is "%s"', (line, event) => {
    expect(describe(event)).toBe(line);
  });

  it.each(stops)('is "Stopping: %s"', (line, reason) => {
    expect(describe({ type: 'stopping', reason })).toBe(`Stopping: ${line}`);
  });

  it('is there for every type of event and every reason to stop', () => {
    const types = [...lines.map(([, event]) => event.type), 'stopping'];
    // The compiler keeps these lists complete: an event or a reason more does not compile without its key here.
    const everyType: Record<WorkerEventType, true> = {
      started: true,
      job_started: true,
      job_done: true,
      job_released: true,
      job_retried: true,
      job_failed: true,
      job_abandoned: true,
      claim_lost: true,
      record_failed: true,
      job_unrecorded: true,
      renew_failed: true,
      reserve_failed: true,
      reserve_late: true,
      wakeups_failed: true,
      backoff_invalid: true,
      empty: true,
      stopping: true,
      ended: true,
    };
    const everyReason: Record<StopReason['why'], true> = {
      asked: true,
      max_jobs: true,
      max_time: true,
      memory: true,
      unreadable: true,
      abandoned: true,
      chaos: true,
    };
    expect([...new Set(types)].sort()).toEqual(Object.keys(everyType).sort());
    expect([...new Set(stops.map(([, { why }]) => why))].sort()).toEqual(Object.keys(everyReason).sort());
  });

  it('is one line, whatever was thrown', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const thrown of [
      new Error('a\nb\r\nc'),
      new Error('a\rb'),
      'a\nb',
      proxy,
      Symbol('a\nb'),
      Object.assign(new Error('x'), { name: 'a\nb' }),
    ]) {
      expect(describe({ type: 'job_failed', job, error: thrown, elapsedMs: 1 })).toMatch(/^ {3}failed for good: .+$/);
    }
  });
});
