import type { QueueWarning } from '@q/core';
import { checkWake } from '@q/core/driver-kit';
import type { Connection } from './connection.js';
import { DatabaseWatch } from './database-watch.js';
import type { Pushed } from './push.js';

interface Subscription {
  readonly queues: ReadonlySet<string>;
  readonly wake: () => void;
}

/**
 * Who wants to know of pushes. One through this driver is known at once; one by anybody else is found by looking at the
 * database, which is watched only while somebody listens.
 */
export class Wakeups {
  readonly #connection: Connection;
  readonly #warn: (warning: QueueWarning) => void;
  readonly #subscriptions = new Set<Subscription>();
  readonly #pushedTo = new Set<string>();
  #watch: DatabaseWatch | null = null;
  #version: number | undefined;
  #newest = 0;

  constructor(connection: Connection, warn: (warning: QueueWarning) => void) {
    this.#connection = connection;
    this.#warn = warn;
  }

  /** Throws `invalid_option`. */
  subscribe(queues: readonly string[], wake: () => void): AsyncDisposable {
    checkWake(wake);
    const subscription = { queues: new Set(queues), wake };
    this.#subscriptions.add(subscription);
    if (this.#subscriptions.size === 1) this.#start();
    return { [Symbol.asyncDispose]: async () => this.#end(subscription) };
  }

  /** Wakes for a job pushed through this driver, if it is one, and gives its id. */
  announce({ id, queue, isNew }: Pushed): number {
    if (isNew) this.pushed(queue);
    return id;
  }

  /** Wakes for a job in the queue. On the application's connection it may still be uncommitted: a hint. */
  pushed(queue: string): void {
    if (this.#subscriptions.size === 0) return;
    const isScheduled = this.#pushedTo.size > 0;
    this.#pushedTo.add(queue);
    if (isScheduled) return;
    // Not at once: a listener is never called inside a transaction of the application's, and once for a whole batch.
    queueMicrotask(() => {
      const queues = [...this.#pushedTo];
      this.#pushedTo.clear();
      this.#wake((subscription) => queues.some((one) => subscription.queues.has(one)));
    });
  }

  close(): void {
    this.#subscriptions.clear();
    this.#stop();
  }

  #start(): void {
    const { file } = this.#connection;
    this.#version = undefined;
    this.#newest = Number.NEGATIVE_INFINITY;
    this.#hasNewJobs();
    this.#watch = new DatabaseWatch(file, {
      look: () => this.#look(),
      onUnwatchable: (error) => this.#warnOfPolling(error),
    });
  }

  #stop(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  #end(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size === 0) this.#stop();
  }

  #look(): void {
    if (this.#hasNewJobs()) this.#wake(() => true);
  }

  /** Whether somebody has pushed since the last time. Claims and completions of others are changes too, but no news. */
  #hasNewJobs(): boolean {
    try {
      return this.#connection.glance((statements) => {
        const version = statements.first<{ readonly data_version: number }>('dataVersion')?.data_version;
        // In memory the version says nothing: whoever else there is shares this connection.
        if (version === this.#version && this.#connection.file !== null) return false;
        const newest = statements.first<{ readonly id: number | null }>('newestJob')?.id ?? 0;
        const isNew = newest > this.#newest;
        this.#newest = Math.max(newest, this.#newest);
        this.#version = version;
        return isNew;
      });
    } catch {
      return false; // locked just now, or without its tables: a later look, or the worker's polling, finds out
    }
  }

  #wake(isMeant: (subscription: Subscription) => boolean): void {
    for (const subscription of [...this.#subscriptions].filter(isMeant)) {
      try {
        subscription.wake();
      } catch {
        // A wakeup is a hint: whoever cannot take it polls. The others still get theirs.
      }
    }
  }

  #warnOfPolling(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#warn({
      code: 'watch_unavailable',
      message: `${this.#connection.file} cannot be watched for changes, so it is looked at 40 times a second instead: ${why}`,
    });
  }
}
