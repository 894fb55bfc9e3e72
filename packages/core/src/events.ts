import { errorMessage } from './error-detail.js';

/** The job an event is about. */
export interface JobRef {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly attempts: number;
  readonly maxAttempts: number;
}

/** Why a run came to its end. */
export type StopReason =
  | { readonly why: 'asked' }
  | { readonly why: 'max_jobs'; readonly ran: number }
  | { readonly why: 'max_time'; readonly seconds: number }
  | { readonly why: 'memory'; readonly megabytes: number }
  | { readonly why: 'unreadable'; readonly failures: number }
  | { readonly why: 'abandoned'; readonly handlers: number }
  /** The option `chaos` kills the process, at once, after the handler of this job. */
  | { readonly why: 'chaos'; readonly job: JobRef };

/**
 * Everything a worker tells, in the order in which it happens to a job. Listen with `worker.on(type, listener)`, or to all
 * of them with `worker.on('event', listener)`. What a listener throws is a process warning and disturbs nobody.
 */
export interface WorkerEventTypes {
  /** The run has begun. */
  started: { readonly worker: string; readonly queues: readonly string[] };
  /** A handler is about to run. */
  job_started: { readonly job: JobRef };
  /** The handler returned (or its transaction committed) and the job is gone. */
  job_done: { readonly job: JobRef; readonly elapsedMs: number };
  /** The job was put back without having failed: its handler asked, the worker left in a hurry, or the option `chaos`. */
  job_released: { readonly job: JobRef; readonly delay: number; readonly why: 'handler' | 'shutdown' | 'chaos' };
  /** The attempt failed, and there is another in `delay` seconds. */
  job_retried: { readonly job: JobRef; readonly delay: number; readonly error: unknown; readonly elapsedMs: number };
  /** The last attempt failed: the job is in the failed store. */
  job_failed: { readonly job: JobRef; readonly error: unknown; readonly elapsedMs: number };
  /** A handler went on past `timeout` and `grace`. Its slot is free; what it does now cannot be stopped. */
  job_abandoned: { readonly job: JobRef; readonly abandoned: number };
  /** The store refused the outcome: the claim had run out and the job is another worker's, or was dealt with by hand. */
  claim_lost: {
    readonly job: JobRef;
    /** What would have been recorded. */
    readonly outcome: 'done' | 'released' | 'retried' | 'failed';
    /** The longest this process's event loop was seen blocked, or stopped, during the job: the usual reason. */
    readonly eventLoopDelayMs: number;
  };
  /** A write of an outcome failed; it is tried again while the claim lasts. */
  record_failed: { readonly job: JobRef; readonly error: unknown; readonly tries: number };
  /** The outcome could not be recorded while the claim lasted: the job will run again when its claim has expired. */
  job_unrecorded: {
    readonly job: JobRef;
    readonly outcome: 'done' | 'released' | 'retried' | 'failed';
    readonly error: unknown;
  };
  /** Claims could not be renewed; tried again before they end. */
  renew_failed: { readonly jobs: readonly JobRef[]; readonly error: unknown };
  /** A reserve failed: the `failures`-th in a row. */
  reserve_failed: { readonly error: unknown; readonly failures: number };
  /** A reserve came back with jobs after it had been given up, or with more than were asked for; they were put back. */
  reserve_late: { readonly jobs: readonly JobRef[] };
  /** Wakeups could not be set up; the worker polls. */
  wakeups_failed: { readonly error: unknown };
  /** The backoff function gave nonsense; the default was used. */
  backoff_invalid: { readonly job: JobRef; readonly error: unknown };
  /** `stopWhenEmpty`, and it is. */
  empty: { readonly queues: readonly string[] };
  /** The run takes nothing more and finishes what it has in hand. */
  stopping: { readonly reason: StopReason };
  /** The run is over. */
  ended: { readonly ran: number; readonly exitCode: 0 | 1 };
}

export type WorkerEventType = keyof WorkerEventTypes;
export type WorkerEventOf<T extends WorkerEventType> = { readonly type: T } & WorkerEventTypes[T];
export type WorkerEvent = { [T in WorkerEventType]: WorkerEventOf<T> }[WorkerEventType];

const LINES: { readonly [T in WorkerEventType]: (event: WorkerEventTypes[T]) => string } = {
  started: ({ worker, queues }) => `Worker ${worker} watching ${queues.join(', ')}`,
  job_started: ({ job }) => `-> ${job.name} #${job.id} (attempt ${job.attempts}/${job.maxAttempts})`,
  job_done: ({ elapsedMs }) => `   done in ${Math.round(elapsedMs)}ms`,
  job_released: ({ delay, why }) => RELEASED_LINES[why](delay),
  job_retried: ({ delay, error }) => `   failed, retrying in ${delay}s: ${errorMessage(error)}`,
  job_failed: ({ error }) => `   failed for good: ${errorMessage(error)}`,
  job_abandoned: ({ job }) => `error: ${ref(job)} did not settle in its grace and was abandoned`,
  claim_lost: ({ job, outcome, eventLoopDelayMs }) =>
    `error: ${ref(job)} was ${outcome}, but its claim had been lost${blocked(eventLoopDelayMs)}`,
  record_failed: ({ job, error }) => `error: could not record the outcome of ${ref(job)}: ${errorMessage(error)}`,
  job_unrecorded: ({ job, outcome, error }) =>
    `error: ${ref(job)} was ${outcome}, which could not be recorded; it will run again: ${errorMessage(error)}`,
  renew_failed: ({ jobs, error }) =>
    `error: could not renew ${jobs.length} ${jobs.length === 1 ? 'claim' : 'claims'}: ${errorMessage(error)}`,
  reserve_failed: ({ error }) => `error: could not reserve a job: ${errorMessage(error)}`,
  reserve_late: ({ jobs }) =>
    `error: a reserve answered too late, or with too much; put back ${jobs.map(ref).join(', ')}`,
  wakeups_failed: ({ error }) => `error: no wakeups, polling instead: ${errorMessage(error)}`,
  backoff_invalid: ({ job, error }) => `error: no usable backoff for ${ref(job)}: ${errorMessage(error)}`,
  empty: () => 'Nothing left to do',
  stopping: ({ reason }) => `Stopping: ${STOP_LINES[reason.why](reason as never)}`,
  ended: ({ ran }) => `Ran ${ran} ${ran === 1 ? 'job' : 'jobs'}`,
};

const RELEASED_LINES: { readonly [W in WorkerEventTypes['job_released']['why']]: (delay: number) => string } = {
  handler: (delay) => `   released, back in ${delay}s`,
  shutdown: () => '   put back, the worker is leaving',
  chaos: () => '   put back by chaos',
};

const STOP_LINES: { readonly [W in StopReason['why']]: (reason: Extract<StopReason, { why: W }>) => string } = {
  asked: () => 'asked to shut down',
  max_jobs: ({ ran }) => `ran ${ran} ${ran === 1 ? 'job' : 'jobs'}`,
  max_time: ({ seconds }) => `been going for ${seconds}s`,
  memory: ({ megabytes }) => `using ${megabytes}MB`,
  unreadable: ({ failures }) => `the queue has been unreadable ${failures === 5 ? 'five' : failures} times running`,
  chaos: ({ job }) => `chaos kills the process after ${ref(job)}`,
  abandoned: ({ handlers }) => `${handlers} abandoned ${handlers === 1 ? 'handler is' : 'handlers are'} still running`,
};

/**
 * The line an event is logged as, by the CLI and by workers inside an application. Where several jobs are in hand at
 * once their lines interleave: `'numbered'` puts the job's number in front of those that do not name it.
 */
export function describe(event: WorkerEvent, lines: 'plain' | 'numbered' = 'plain'): string {
  // The cast: the table has, for every type, a function of just that type's event.
  const line = (LINES[event.type] as (event: WorkerEvent) => string)(event);
  if (lines !== 'numbered' || !('job' in event) || !line.startsWith('   ')) return line;
  return `   #${event.job.id} ${line.slice(3)}`;
}

function ref(job: JobRef): string {
  return `${job.name} #${job.id}`;
}

// Timers are always a little late; only a delay that could cost a claim is worth a word.
const NOTEWORTHY_DELAY_MS = 200;

function blocked(eventLoopDelayMs: number): string {
  return eventLoopDelayMs < NOTEWORTHY_DELAY_MS
    ? ''
    : ` (the event loop was blocked for ${Math.round(eventLoopDelayMs)}ms)`;
}
