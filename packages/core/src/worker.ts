import { hostname } from 'node:os';
import { QueueError } from './errors.js';
import type { WorkerEventType } from './events.js';
import { TEXT_LIMITS } from './limits.js';
import { Emitter, type Listener } from './worker/emitter.js';
import { checkMs, type SettledOptions, settleWorkerOptions, type WorkerOptions } from './worker/options.js';
import { Run } from './worker/run.js';
import { takeSignals } from './worker/signals.js';

/**
 * Runs jobs: reserves them, calls their handlers, and writes down how they ended. It prints nothing, takes no signals
 * unless asked to, and never throws because of a job; what happens is told by its events (events.ts).
 */
export class Worker {
  /** What `reserved_by` shows of its claims. */
  readonly id: string;
  readonly #options: SettledOptions;
  readonly #emitter = new Emitter();
  #running: { readonly run: Run; readonly ended: Promise<0 | 1> } | null = null;
  #isStopAsked = false;

  /** Throws a `QueueError` where an option is not what it has to be. */
  constructor(options: WorkerOptions) {
    this.#options = settleWorkerOptions(options, defaultId);
    this.id = this.#options.id;
  }

  /** Listens to one type of event, or to all (`'event'`). What a listener throws is a process warning. */
  on<T extends WorkerEventType | 'event'>(type: T, listener: Listener<T>): this {
    this.#emitter.on(type, listener);
    return this;
  }

  off<T extends WorkerEventType | 'event'>(type: T, listener: Listener<T>): this {
    this.#emitter.off(type, listener);
    return this;
  }

  /**
   * Works until it is stopped, a limit is reached or (`stopWhenEmpty`) nothing is left. Resolves to an exit code for the
   * process: 1 where a supervisor should start a fresh one (the queue could not be read, or too many handlers are
   * running on), else 0. A failed job never affects it. Rejects with `worker_running` while another run is going on.
   * After a run has ended there may be another.
   */
  async run(): Promise<0 | 1> {
    if (this.#running !== null) {
      throw new QueueError('worker_running', `Worker ${this.id} is running already; stop it first, or make another`);
    }
    const run = new Run(this.#options, this.#emitter.emit);
    const release = this.#options.signals
      ? takeSignals(
          () => run.stop(this.#options.shutdownTimeoutMs),
          () => run.hurry(),
        )
      : () => {};
    if (this.#isStopAsked) run.stop(0);
    this.#isStopAsked = false;
    const ended = run.execute();
    this.#running = { run, ended };
    try {
      return await ended;
    } finally {
      this.#running = null;
      release();
    }
  }

  /** Runs at most one job, without signals or limits. False: nothing was due. Rejects where the reserve fails. */
  async runNext(): Promise<boolean> {
    return new Run(this.#options, this.#emitter.emit).one();
  }

  /**
   * Asks the run to take nothing more and resolves when it has ended: at the latest when what is in hand has reached its
   * time limits, or after `timeout` seconds (default: the option `shutdownTimeout`; 0: no such limit), when handlers are
   * told to give up and their jobs are put back. May be called at any time, also twice, and from a handler (which must
   * not wait for it: the run waits for the handler). Before `run()`: that run ends as soon as it is started.
   */
  async stop(options: { readonly timeout?: number } = {}): Promise<void> {
    const { shutdownTimeoutMs } = this.#options;
    const timeoutMs = options.timeout === undefined ? shutdownTimeoutMs : checkMs('timeout', options.timeout);
    if (this.#running === null) {
      this.#isStopAsked = true;
      return;
    }
    this.#running.run.stop(timeoutMs);
    await this.#running.ended;
  }
}

// The only state of this module: how many workers this process has made, so that no two have one id.
let workers = 0;

function defaultId(): string {
  workers += 1;
  const suffix = `:${process.pid}${workers === 1 ? '' : `:${workers}`}`;
  return `${[...hostname()].slice(0, TEXT_LIMITS.worker - suffix.length).join('')}${suffix}`;
}
