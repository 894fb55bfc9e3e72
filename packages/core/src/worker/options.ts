import { hasLeases } from '../abilities.js';
import type { InTransaction, QueueDriver } from '../driver.js';
import { QueueError } from '../errors.js';
import type { Handlers } from '../handlers.js';
import { checkInteger, checkQueues, checkWorker, kindOf } from '../limits.js';
import { type SettledChaos, settleChaos, type WorkerChaos } from './chaos.js';
import { type Clock, systemClock } from './clock.js';

/** What a worker asks of a queue: the least, so that every Queue fits. */
export interface WorkSource {
  readonly driver: QueueDriver;
  readonly handlers: Handlers;
  backoff(attempt: number, onInvalid?: (error: unknown) => void): number;
  /** The queue watched when none is named. Default `'default'`. */
  readonly queue?: string;
  /** Told of the transactions that jobs are completed in. */
  readonly guard?: { enter(transaction: InTransaction): void } | null;
}

/** Durations are seconds; those that never reach a store may be fractions. 0 switches a limit off. */
export interface WorkerOptions {
  readonly queue: WorkSource;
  /** In order of precedence. Empty or left out: the Queue's default queue. */
  readonly queues?: readonly string[] | undefined;
  /** Jobs in hand at once. 1 (the default) keeps strict order. */
  readonly concurrency?: number | undefined;
  /** How long a handler may run, from its start. Then `job.signal` aborts. Default 300; 0: no limit. */
  readonly timeout?: number | undefined;
  /** How long a handler may take to settle after that, before it is abandoned. Default 5. */
  readonly grace?: number | undefined;
  /** How long a claim lasts; renewed at a third of it. A dead worker's jobs come back after it. Default 60. */
  readonly lease?: number | undefined;
  /** How long to wait when nothing is due. Default 1. */
  readonly sleep?: number | undefined;
  /** End after so many jobs. Default 0: no limit. */
  readonly maxJobs?: number | undefined;
  /** End after so many seconds. Default 0: no limit. */
  readonly maxTime?: number | undefined;
  /** End when the process uses more than so many megabytes (rss). Default 0: no limit. */
  readonly memoryLimit?: number | undefined;
  /** End when nothing is due and nothing is in hand. Default false. */
  readonly stopWhenEmpty?: boolean | undefined;
  /** Take SIGTERM, SIGINT and SIGQUIT while running. Default false: a library leaves a host's signals alone. */
  readonly signals?: boolean | undefined;
  /** How long a stop waits for what is in hand before it is put back. Default 0: as long as the jobs may take. */
  readonly shutdownTimeout?: number | undefined;
  /** End, with exit code 1, after so many failed reserves in a row. Default 5; 0: never give up. */
  readonly maxReserveFailures?: number | undefined;
  /**
   * How long one call of the driver may take before it counts as failed; a reserve in any case no longer than the lease,
   * a renewal no longer than a third of it. Default 30; 0: no limit.
   */
  readonly driverTimeout?: number | undefined;
  /** End, with exit code 1, when so many abandoned handlers are still running. Default: `concurrency`. */
  readonly maxAbandoned?: number | undefined;
  /** Default `hostname:pid`, and for a second worker of the process `hostname:pid:2`. Cut to 64 characters. */
  readonly id?: string | undefined;
  /** For staging, to see that handlers bear being run twice. Refused where NODE_ENV is `production`. Default: none. */
  readonly chaos?: WorkerChaos | undefined;
  /** For tests: where time comes from. */
  readonly clock?: Clock | undefined;
}

/** The options with their defaults, in milliseconds. */
export interface SettledOptions {
  readonly source: WorkSource;
  readonly id: string;
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  /** Seconds a claim is made for, and renewed for where `renews`. */
  readonly claimSeconds: number;
  readonly renews: boolean;
  readonly sleepMs: number;
  readonly maxJobs: number;
  readonly maxTimeMs: number;
  readonly memoryLimitMb: number;
  readonly stopWhenEmpty: boolean;
  readonly signals: boolean;
  readonly shutdownTimeoutMs: number;
  readonly maxReserveFailures: number;
  readonly driverTimeoutMs: number;
  readonly maxAbandoned: number;
  readonly chaos: SettledChaos | null;
  readonly clock: Clock;
}

// A worker that asks again without a pause would take a whole core to learn that nothing is there.
const SHORTEST_SLEEP_MS = 10;

/** Checks the options. Throws `invalid_option`, `invalid_number` or `invalid_text`. */
export function settleWorkerOptions(options: WorkerOptions, defaultId: () => string): SettledOptions {
  const source = checkSource(options?.queue);
  const queues = checkQueues(options.queues ?? []);
  const concurrency = checkInteger('concurrency', options.concurrency ?? 1, 1);
  const timeoutMs = checkMs('timeout', options.timeout ?? 300);
  const graceMs = checkMs('grace', options.grace ?? 5);
  const renews = hasLeases(source.driver);
  if (!renews && timeoutMs === 0) {
    throw new QueueError('invalid_option', 'timeout 0 needs a driver that can renew claims (extend); this one cannot');
  }
  const lease = checkInteger('lease', options.lease ?? 60, 1);
  return {
    source,
    id: options.id === undefined ? defaultId() : checkWorker(options.id),
    queues: queues.length > 0 ? queues : [source.queue ?? 'default'],
    concurrency,
    timeoutMs,
    graceMs,
    claimSeconds: renews ? lease : Math.ceil((timeoutMs + graceMs) / 1000),
    renews,
    sleepMs: Math.max(checkMs('sleep', options.sleep ?? 1), SHORTEST_SLEEP_MS),
    maxJobs: checkInteger('maxJobs', options.maxJobs ?? 0, 0),
    maxTimeMs: checkMs('maxTime', options.maxTime ?? 0),
    memoryLimitMb: checkAmount('memoryLimit', options.memoryLimit ?? 0, 'megabytes'),
    stopWhenEmpty: options.stopWhenEmpty ?? false,
    signals: options.signals ?? false,
    shutdownTimeoutMs: checkMs('shutdownTimeout', options.shutdownTimeout ?? 0),
    maxReserveFailures: checkInteger('maxReserveFailures', options.maxReserveFailures ?? 5, 0),
    driverTimeoutMs: checkMs('driverTimeout', options.driverTimeout ?? 30) || Number.POSITIVE_INFINITY,
    maxAbandoned: checkInteger('maxAbandoned', options.maxAbandoned ?? concurrency, 1),
    chaos: settleChaos(options.chaos),
    clock: options.clock ?? systemClock,
  };
}

/** Seconds, fractions allowed, as milliseconds; below 0 is raised to 0. */
export function checkMs(what: string, value: unknown): number {
  return checkAmount(what, value, 'seconds') * 1000;
}

function checkAmount(what: string, value: unknown, unit: 'seconds' | 'megabytes'): number {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.max(0, value);
  const got = typeof value === 'number' ? String(value) : kindOf(value);
  throw new QueueError('invalid_number', `${what} has to be a number of ${unit}; got ${got}`);
}

function checkSource(source: WorkSource): WorkSource {
  const fits = typeof source === 'object' && source !== null && typeof source.backoff === 'function';
  if (fits && typeof source.driver?.reserve === 'function' && typeof source.handlers === 'object') return source;
  throw new QueueError('invalid_option', `A Worker needs a Queue (driver, handlers, backoff); got ${kindOf(source)}`);
}
