import type { QueueWarning } from '@q/core';
import { clientClassOf, type PgClient, type PgClientClass, type PgPool } from './client.js';
import type { Connection } from './connection.js';
import { Listener, lookAtTheWay } from './listener.js';
import type { ListenConfig } from './options.js';
import type { StatementTexts } from './statements.js';

interface Subscription {
  readonly queues: ReadonlySet<string>;
  readonly wake: () => void;
}

export interface WakeupOptions {
  readonly pool: PgPool;
  readonly texts: StatementTexts;
  readonly connection: Connection;
  readonly listen: ListenConfig | false | null;
  readonly warn: (warning: QueueWarning) => void;
}

/**
 * Who wants to know of pushes. One through this driver is known at once; one by anybody else is announced by the server,
 * on a connection that is there only while somebody wants to know.
 */
export class Wakeups {
  readonly #options: WakeupOptions;
  readonly #subscriptions = new Set<Subscription>();
  readonly #pushedTo = new Set<string>();
  #listener: Listener | null = null;

  constructor(options: WakeupOptions) {
    this.#options = options;
  }

  async subscribe(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
    const subscription = { queues: new Set(queues), wake };
    this.#subscriptions.add(subscription);
    this.#listener ??= this.#listen();
    await this.#listener?.ready;
    return { [Symbol.asyncDispose]: () => this.#end(subscription) };
  }

  /** Somebody pushed through this driver, and it is committed. */
  pushed(queue: string): void {
    if (this.#subscriptions.size === 0) return;
    const isScheduled = this.#pushedTo.size > 0;
    this.#pushedTo.add(queue);
    if (isScheduled) return;
    // Not at once: a listener that throws or takes its time is none of the push's business, and once for a whole batch.
    queueMicrotask(() => {
      const pushedTo = [...this.#pushedTo];
      this.#pushedTo.clear();
      this.#wake((subscription) => pushedTo.some((one) => subscription.queues.has(one)));
    });
  }

  /** Whether it could listen. Null: it was told not to. Rejects where it cannot connect. */
  async diagnose(): Promise<'direct' | 'pooler' | 'unknown' | null> {
    const { pool, listen, texts } = this.#options;
    if (listen === false) return null;
    const Client = clientClassOf(pool);
    if (Client === null) return 'unknown';
    return lookAtTheWay(openClient(Client, listen ?? poolConfig(pool)), texts);
  }

  async close(): Promise<void> {
    this.#subscriptions.clear();
    await this.#stop();
  }

  async #end(subscription: Subscription): Promise<void> {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size === 0) await this.#stop();
  }

  async #stop(): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    await listener?.close();
  }

  /** Null: nobody is listened to, and workers poll. */
  #listen(): Listener | null {
    const { pool, listen, texts, connection, warn } = this.#options;
    if (listen === false) return null;
    const Client = clientClassOf(pool);
    if (Client === null) {
      warn({ code: 'listen_unavailable', message: `The Pool does not say how it opens its clients; ${POLLING}` });
      return null;
    }
    return new Listener({
      texts,
      open: () => openClient(Client, listen ?? poolConfig(pool)),
      onAnnounced: (queue) => this.#wake(({ queues }) => queue === null || queues.has(queue)),
      onListening: () => this.#wake(() => true),
      onSilence: () => connection.suspect(),
      onPooler: () =>
        warn({
          code: 'listen_unavailable',
          message: `There is a pooler between this process and Postgres, through which LISTEN does not work; ${POLLING}`,
        }),
    });
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

const POLLING =
  'notifications are unavailable, so workers find jobs by polling. Give `listen` a direct connection to Postgres, or ' +
  'false if this is how it should be';

function openClient(Client: PgClientClass, config: object | string): PgClient {
  return new Client(config);
}

/** What the pool opens its own clients with. Its password is not enumerable, and a copy would be without it. */
function poolConfig({ options }: PgPool): object {
  // The cast: any object may be asked for any property.
  const { password } = options as { readonly password?: unknown };
  return { ...options, ...(password === undefined ? {} : { password }), keepAlive: true };
}
