import type { Connection } from './connection.js';
import { Deadline } from './deadline.js';

// A commit that announces something takes a lock of the whole database. A worker that is woken takes what it finds, so
// one announcement in so many milliseconds is enough for each queue.
const THROTTLE_MS = 20;

// Queues whose last announcement is remembered. Names may be made up without end; memory may not.
const MAX_QUEUES = 1_000;

const FAREWELL_MS = 500;

/** When pushes outside of the application's transactions are announced: the first at once, those right after it together. */
export class Notifier {
  readonly #connection: Connection;
  readonly #isOn: boolean;
  readonly #announcedMs = new Map<string, number>();
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #sent: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, isOn: boolean) {
    this.#connection = connection;
    this.#isOn = isOn;
  }

  /** Whether a push to the queue that is about to be made announces itself. If not, `pushed` is to be told of it. */
  takesTurn(queue: string): boolean {
    const isDue = performance.now() - (this.#announcedMs.get(queue) ?? Number.NEGATIVE_INFINITY) >= THROTTLE_MS;
    if (this.#isOn && isDue) this.#announced(queue);
    return this.#isOn && isDue;
  }

  /** A job has been stored and committed, unannounced: one announcement follows for all there are in a while. */
  pushed(queue: string): void {
    if (!this.#isOn) return;
    this.#waiting.add(queue);
    // It keeps no process alive: whoever polls finds the job too.
    this.#timer ??= setTimeout(() => this.#flush(), THROTTLE_MS).unref();
  }

  /** Announces what is waiting, and does not wait for a server that does not answer. Never rejects. */
  async close(): Promise<void> {
    this.#flush();
    await new Deadline(FAREWELL_MS).wait(this.#sent, () => new Error()).catch(() => {});
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const queues = [...this.#waiting];
    this.#waiting.clear();
    if (queues.length === 0) return;
    for (const queue of queues) this.#announced(queue);
    // An announcement is a hint: that it failed is no news.
    const sending = this.#connection.run((session) => session.run('notify', [queues])).catch(() => {});
    this.#sent = Promise.all([this.#sent, sending]);
  }

  #announced(queue: string): void {
    if (this.#announcedMs.size >= MAX_QUEUES) this.#announcedMs.clear();
    this.#announcedMs.set(queue, performance.now());
  }
}
