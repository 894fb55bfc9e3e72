import { setTimeout as sleep } from 'node:timers/promises';
import { breakOff, type RedisClient } from './client.js';
import { Deadline } from './deadline.js';
import { replyCode } from './errors.js';
import { textsOf } from './replies.js';

export interface BellReaderOptions {
  /** The keys of the bells, and their queues. */
  readonly bells: ReadonlyMap<string, string>;
  /** A new client that is ready. Rejects where there is none in time. */
  readonly open: () => Promise<RedisClient>;
  readonly onRung: (queue: string) => void;
  /** It waits from now on. What was rung since the last connection was lost may have been lost with it. */
  readonly onListening: () => void;
  /** The connection did not answer any more: others to the same server may be the same. */
  readonly onSilence: () => void;
  /** The server answered with an error: it does not let anybody wait, or not just now. */
  readonly onRefusal: (error: unknown) => void;
  /** Rings a bell that nobody here had a use for. */
  readonly passOn: (queue: string) => Promise<void>;
}

// How long one read waits, and how much later its answer may come before the connection is taken for dead.
const BLOCK_S = 5;
const GRACE_S = 2;
const LONGEST_PAUSE_MS = 1_000;
// How long somebody who has got all that it asked for leaves the bells to others.
const SATED_MS = 1_000;

/**
 * A connection of its own on which one read after the other waits for bells. No answer is ever trusted to come: a read
 * that is overdue is abandoned together with its connection, and another one is made.
 */
export class BellReader {
  /** Settles when it waits, or the first try has failed; it goes on trying all the same. Never rejects. */
  readonly ready: Promise<void>;
  readonly #options: BellReaderOptions;
  readonly #stop = new AbortController();
  #client: RedisClient | null = null;
  #tried: () => void = () => {};
  #isSated = false;
  #hungry: () => void = () => {};

  constructor(options: BellReaderOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#tried = resolve;
    });
    void this.#run();
  }

  isOf(queues: ReadonlySet<string>): boolean {
    const { bells } = this.#options;
    return bells.size === queues.size && [...bells.values()].every((queue) => queues.has(queue));
  }

  reserved(isSated: boolean): void {
    this.#isSated = isSated;
    if (!isSated) this.#hungry();
  }

  /** Ends it at once, and with it the read that waits. Never rejects. */
  async close(): Promise<void> {
    this.#stop.abort();
    if (this.#client !== null) breakOff(this.#client);
    this.#hungry();
  }

  async #run(): Promise<void> {
    for (let pauseMs = 50; !this.#stop.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const hasListened = await this.#listen();
      this.#tried();
      if (hasListened) pauseMs = 50;
      // Uneven: after a restart of the server, not everybody at once.
      await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  /** One connection, from its beginning to its end. True: it waited, until the connection was lost. */
  async #listen(): Promise<boolean> {
    let hasListened = false;
    try {
      const client = await this.#options.open();
      this.#client = client;
      while (!this.#stop.signal.aborted) {
        const reading = this.#read(client);
        if (!hasListened) {
          hasListened = true;
          this.#tried();
          this.#options.onListening();
        }
        const queue = await reading;
        if (queue !== null) await this.#rung(queue);
      }
    } catch (error) {
      if (error instanceof Silence) this.#options.onSilence();
      if (hasListened && replyCode(error) !== null) {
        hasListened = false;
        this.#options.onRefusal(error);
      }
    } finally {
      if (this.#client !== null) breakOff(this.#client);
      this.#client = null;
    }
    return hasListened;
  }

  /** The queue whose bell was rung; null: none was, for as long as one read waits. */
  async #read(client: RedisClient): Promise<string | null> {
    const { bells } = this.#options;
    const reading = client.bzpopmin([...bells.keys()], BLOCK_S);
    const [bell] = textsOf(await new Deadline((BLOCK_S + GRACE_S) * 1000).wait(reading, () => new Silence()));
    return bell === undefined ? null : (bells.get(bell) ?? null);
  }

  async #rung(queue: string): Promise<void> {
    const { passOn, onRung } = this.#options;
    const isSated = this.#isSated;
    // Somebody here who works to capacity would be woken for nothing, and somebody elsewhere not at all.
    if (isSated) await passOn(queue).catch(() => {});
    onRung(queue);
    if (!isSated || this.#stop.signal.aborted) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#hungry = resolve;
      timer = setTimeout(resolve, SATED_MS);
    });
    clearTimeout(timer);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
  }
}

class Silence extends Error {}
