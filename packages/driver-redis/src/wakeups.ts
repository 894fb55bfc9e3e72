import type { QueueWarning } from '@q/core';
import { BellReader } from './bell-reader.js';
import type { Connection } from './connection.js';
import { isHarmless } from './errors.js';
import type { Keys } from './keys.js';

interface Subscription {
  readonly queues: ReadonlySet<string>;
  readonly wake: () => void;
}

/**
 * Who wants to know of pushes. Each queue has a bell: a push, by anybody, rings it, and it stays rung until one of those
 * who wait hears it. So one push wakes one worker, and a push while nobody waits wakes the next one who does.
 */
export class Wakeups {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #warn: (warning: QueueWarning) => void;
  readonly #subscriptions = new Set<Subscription>();
  #reader: BellReader | null = null;

  constructor(connection: Connection, keys: Keys, warn: (warning: QueueWarning) => void) {
    this.#connection = connection;
    this.#keys = keys;
    this.#warn = warn;
  }

  async subscribe(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const subscription = { queues: new Set(queues), wake };
    this.#subscriptions.add(subscription);
    await this.#listen();
    return { [Symbol.asyncDispose]: () => this.#end(subscription) };
  }

  /** A reserve got all that it asked for, or not: then there is somebody in this process who waits. */
  reserved({ isSated }: { readonly isSated: boolean }): void {
    this.#reader?.reserved(isSated);
  }

  async close(): Promise<void> {
    this.#subscriptions.clear();
    await this.#listen();
  }

  async #end(subscription: Subscription): Promise<void> {
    if (this.#subscriptions.delete(subscription)) await this.#listen();
  }

  /** One reader for the bells of all subscriptions. Another set of bells takes another reader: a read cannot be changed. */
  async #listen(): Promise<void> {
    const queues = new Set([...this.#subscriptions].flatMap((subscription) => [...subscription.queues]));
    const reader = this.#reader;
    if (reader?.isOf(queues)) return reader.ready;
    this.#reader = queues.size === 0 ? null : this.#readerOf([...queues]);
    await reader?.close();
    await this.#reader?.ready;
  }

  #readerOf(queues: readonly string[]): BellReader {
    return new BellReader({
      bells: new Map(queues.map((queue) => [this.#keys.bell(queue), queue])),
      open: () => this.#connection.open(),
      onRung: (queue) => this.#wake(({ queues }) => queues.has(queue)),
      onListening: () => this.#wake(() => true),
      onSilence: () => void this.#connection.suspect(),
      onRefusal: (error) => this.#refused(error),
      passOn: async (queue) => {
        await this.#connection.run('ring', [{ queue, priorities: [] }]);
      },
    });
  }

  #refused(error: unknown): void {
    // A node that is the wrong one just now is not worth a word: calls say so.
    if (!isHarmless(error)) return;
    const message = `Redis refuses to let this driver wait for pushes, so workers find jobs by polling: ${(error as Error).message}`;
    this.#warn({ code: 'wakeups_unavailable', message });
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
}
