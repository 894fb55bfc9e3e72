import { hasBatches, hasReports, hasSyncPush, hasTransactions } from './abilities.js';
import { type Backoff, backoffDelay, checkBackoff, checkJitter, DEFAULT_BACKOFF, withJitter } from './backoff.js';
import type {
  InTransaction,
  NewJob,
  QueueBatches,
  QueueDriver,
  QueueReports,
  QueueSyncPush,
  QueueTransactions,
  QueueWarning,
} from './driver.js';
import { QueueError } from './errors.js';
import {
  checkQueueable,
  type Handler,
  type Handlers,
  type JsonOnly,
  type PayloadOf,
  resolveHandler,
  type TxOf,
} from './handlers.js';
import { checkDelay, checkJobs, checkMaxAttempts, checkText, kindOf } from './limits.js';
import { checkGuard, type GuardMode, PushGuard } from './push-guard.js';

/** How one job is queued; what is left out comes from the Queue. */
export interface PushOptions {
  /** Seconds until the job may run. Default 0. Not together with `at`. */
  readonly delay?: number | undefined;
  /** The moment from which the job may run, instead of a delay; one in the past is now. Never early, at most 2 s late. */
  readonly at?: Date | undefined;
  /** Default: the Queue's. */
  readonly queue?: string | undefined;
  /** Higher goes first. Default 0. */
  readonly priority?: number | undefined;
  /** While a job with this key is queued or running, pushing it again gives that job's id. Default: no key. */
  readonly unique?: string | null | undefined;
  /** How often the job may be started, the first run included. Default: the Queue's. */
  readonly tries?: number | undefined;
}

type Name<H> = keyof H & string;
type Push<H, R> = <N extends Name<H>>(name: N, payload: PayloadOf<H[N]>, options?: PushOptions) => R;

/** One job of a `pushMany`: its name and payload, and the options beside them. */
export type PushItem<H> = {
  [N in Name<H>]: PushOptions & { readonly name: N; readonly payload: PayloadOf<H[N]> };
}[Name<H>];

export interface QueueInTransaction<H> {
  /** As `queue.push`, but part of the transaction: it happens if, and only if, that commits. */
  readonly push: Push<H, Promise<number>>;
  /** As `queue.pushMany`, in the transaction. */
  pushMany(items: readonly PushItem<H>[]): Promise<number[]>;
}

/** The producing side. What exists on it beyond this follows from the driver: see `Queue`. */
export interface QueueBase<D, H> {
  readonly driver: D;
  readonly handlers: H;
  /** The queue a job goes to, and a worker watches, where nothing else is said. */
  readonly queue: string;
  /** How often a job may be started where its push says nothing else. */
  readonly tries: number;
  /**
   * Queues a job and resolves to its id (with `unique`: that of the job already holding the key). The name is checked
   * before the driver is touched, the payload before the store is: a `QueueError` rejects at the call site, not in a
   * worker.
   */
  readonly push: Push<H, Promise<number>>;
  /** How many jobs could be run right now, in one queue or in all. */
  pending(queue?: string | null): Promise<number>;
  /**
   * Seconds before the attempt after the `attempt`-th. A backoff function that gives nonsense is reported to
   * `onInvalid` (default: the Queue's `onWarning`) and the default list, 10, 60, 300, is used.
   */
  backoff(attempt: number, onInvalid?: (error: unknown) => void): number;
  /** The handler a worker would run for the name. Rejects with what a job of that name would fail with. */
  handler(name: Name<H>): Promise<Handler<unknown, unknown>>;
}

/** A queue: its type says what the driver can do. `queue.within` on a store without transactions does not compile. */
export type Queue<D, H> = QueueBase<D, H> &
  (D extends QueueBatches
    ? {
        /** All or nothing, ids in the order given. */
        pushMany(items: readonly PushItem<H>[]): Promise<number[]>;
      }
    : unknown) &
  (D extends QueueReports ? { readonly reports: QueueReports } : unknown) &
  (D extends QueueTransactions<infer Tx>
    ? {
        /** The producing side inside a transaction of the application's: pushes commit, or roll back, with its rows. */
        within(tx: Tx): QueueInTransaction<H>;
      }
    : unknown) &
  (D extends QueueSyncPush
    ? {
        /** As `push`, on the application's own connection and before it returns. */
        readonly pushSync: Push<H, number>;
      }
    : unknown);

type TxOfDriver<D> = D extends QueueTransactions<infer Tx> ? Tx : never;
type Fits<D, H> = {
  [K in keyof H]: [TxOf<H[K]>] extends [never]
    ? H[K]
    : [TxOf<H[K]>] extends [TxOfDriver<D>]
      ? H[K]
      : { 'this driver has no such transaction': TxOf<H[K]> };
};

export interface QueueOptions<D, H> {
  readonly driver: D;
  /** The registry: which name is run by what. */
  readonly handlers: H & Fits<D, H> & JsonOnly<H>;
  /** The queue jobs go to by default. Default `'default'`. */
  readonly queue?: string | undefined;
  /** How often a job may be started, the first run included. Default 3. */
  readonly tries?: number | undefined;
  /** Seconds before the next attempt. Default `[10, 60, 300]`. */
  readonly backoff?: Backoff | undefined;
  /** A share of the backoff, 0 to 1, of which up to that much is added at random. Default 0: exact. */
  readonly jitter?: number | undefined;
  /** The time of day, for `at`. Default: the process's clock. */
  readonly now?: (() => Date) | undefined;
  /**
   * A development aid: what becomes of a plain push beside an open transaction that the queue was told of, by `within` or by
   * `job.complete`. `'warn'`: `onWarning` is told, with the stack; `'error'`: it is refused (`transaction_open`). Default: not
   * looked for. docs/transactions.md says what it sees.
   */
  readonly guard?: GuardMode | undefined;
  /** What is not an error but should be known. Default `process.emitWarning`. */
  readonly onWarning?: ((warning: QueueWarning) => void) | undefined;
}

const SIX = ['push', 'reserve', 'delete', 'release', 'fail', 'pending'] as const;

class QueueWithDriver {
  readonly driver: QueueDriver;
  readonly handlers: Handlers;
  readonly queue: string;
  readonly tries: number;
  /** Null: none. For the worker, which is told of transactions too. */
  readonly guard: PushGuard | null;
  readonly #backoff: Backoff;
  readonly #jitter: number;
  readonly #now: () => Date;
  readonly #warn: (warning: QueueWarning) => void;

  constructor(options: QueueOptions<QueueDriver, Handlers>) {
    this.driver = checkDriver(options.driver);
    this.handlers = checkHandlers(options.handlers);
    this.queue = checkText('queue', options.queue ?? 'default');
    this.tries = checkMaxAttempts(options.tries ?? 3);
    this.#backoff = checkBackoff(options.backoff ?? DEFAULT_BACKOFF);
    this.#jitter = checkJitter(options.jitter ?? 0);
    this.#now = options.now ?? (() => new Date());
    this.#warn = options.onWarning ?? emitWarning;
    const mode = checkGuard(options.guard);
    this.guard = mode === null ? null : new PushGuard(mode, this.#warn);
    this.#addAbilities(this.driver);
  }

  /** A property: it may be passed on by itself, as those below may. */
  readonly push = async (name: string, payload: object, options?: PushOptions): Promise<number> => {
    const job = this.#newJob(name, payload, options);
    if (this.guard !== null) await this.guard.check(`The job ${job.name}`);
    return this.driver.push(job);
  };

  async pending(queue?: string | null): Promise<number> {
    return this.driver.pending(queue);
  }

  backoff(attempt: number, onInvalid: (error: unknown) => void = this.#warnOfBackoff): number {
    return withJitter(backoffDelay(this.#backoff, attempt, onInvalid), this.#jitter, Math.random);
  }

  async handler(name: string): Promise<Handler<unknown, unknown>> {
    return resolveHandler(this.handlers, name);
  }

  readonly #warnOfBackoff = (error: unknown): void => {
    const why = error instanceof Error ? error.message : kindOf(error);
    this.#warn({ code: 'backoff_invalid', message: `The backoff function failed, so the default is used: ${why}` });
  };

  /** What the driver cannot do is not there: neither for the compiler nor at run time. */
  #addAbilities(driver: QueueDriver): void {
    if (hasReports(driver)) define(this, 'reports', driver);
    if (hasBatches(driver)) {
      define(this, 'pushMany', async (items: readonly AnyItem[]) => {
        const jobs = this.#newJobs(items);
        if (this.guard !== null) await this.guard.check(`A batch of ${jobs.length}`);
        return driver.pushMany(jobs);
      });
    }
    if (hasSyncPush(driver)) {
      define(this, 'pushSync', (name: string, payload: object, options?: PushOptions) =>
        driver.pushSync(this.#newJob(name, payload, options)),
      );
    }
    if (hasTransactions(driver)) {
      // The cast: which transaction the driver takes is known to its type alone; the driver checks what it is given.
      const within = (tx: unknown) => this.#within((driver as QueueTransactions<unknown>).within(tx));
      define(this, 'within', within);
    }
  }

  #within(inTransaction: InTransaction) {
    this.guard?.enter(inTransaction);
    return {
      push: async (name: string, payload: object, options?: PushOptions) =>
        inTransaction.push(this.#newJob(name, payload, options)),
      pushMany: async (items: readonly AnyItem[]) => inTransaction.pushMany(this.#newJobs(items)),
    };
  }

  #newJob(name: unknown, payload: object, options: PushOptions = {}): NewJob {
    const queueable = checkQueueable(this.handlers, name);
    if (typeof options !== 'object' || options === null) {
      throw new QueueError('invalid_option', `The options of a push have to be an object; got ${kindOf(options)}`);
    }
    return {
      name: queueable,
      payload,
      delay: this.#delay(options),
      queue: options.queue ?? this.queue,
      priority: options.priority ?? 0,
      unique: options.unique ?? null,
      maxAttempts: options.tries ?? this.tries,
    };
  }

  #newJobs(items: readonly AnyItem[]): NewJob[] {
    return checkJobs(items, (item) => this.#newJob(item?.name, item?.payload, item));
  }

  #delay({ delay, at }: PushOptions): number {
    if (at === undefined) return checkDelay(delay ?? 0);
    if (delay !== undefined) {
      throw new QueueError('invalid_option', 'A job is queued with a delay or with a moment (at), not with both');
    }
    if (!(at instanceof Date) || Number.isNaN(at.getTime())) {
      const got = at instanceof Date ? 'an invalid one' : kindOf(at);
      throw new QueueError('invalid_option', `The moment (at) of a job has to be a Date; got ${got}`);
    }
    return Math.max(0, Math.ceil((at.getTime() - this.#now().getTime()) / 1000));
  }
}

type AnyItem = PushOptions & { readonly name: string; readonly payload: object };

// The cast: the class adds at run time what the mapped type derives from the driver.
export const Queue = QueueWithDriver as unknown as new <D extends QueueDriver, H extends Handlers>(
  options: QueueOptions<D, H>,
) => Queue<D, H>;

function checkDriver(driver: QueueDriver): QueueDriver {
  const missing = SIX.filter((method) => typeof driver?.[method] !== 'function');
  if (missing.length === 0) return driver;
  throw new QueueError('invalid_option', `A Queue needs a driver; what it was given has no ${missing.join(', ')}`);
}

function checkHandlers(handlers: Handlers): Handlers {
  if (typeof handlers === 'object' && handlers !== null) return handlers;
  throw new QueueError('invalid_option', `A Queue needs a registry of handlers; got ${kindOf(handlers)}`);
}

function emitWarning({ code, message, stack }: QueueWarning): void {
  process.emitWarning(message, { type: 'q', code, ...(stack === undefined ? {} : { detail: stack }) });
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true });
}
