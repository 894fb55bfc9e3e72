import { isQueueError, type QueueWarning } from '@q/core';
import { breakOff, openClient, type RedisClient, type RedisTemplate } from './client.js';
import { Deadline } from './deadline.js';
import * as errors from './errors.js';
import type { Keys, QueueLevels } from './keys.js';
import type { ScriptName } from './scripts.js';
import { checkServer } from './server.js';
import { type Call, Session } from './session.js';

export interface ConnectionOptions {
  readonly template: RedisTemplate;
  readonly keys: Keys;
  /** Seconds one call may take, connecting included. */
  readonly callTimeout: number;
  readonly warn: (warning: QueueWarning) => void;
}

// Connecting has a shorter patience than a call: nothing is lost by giving it up.
const CONNECT_S = 5;
// How long a connection on which nothing is under way may take to show that it lives.
const PROBE_S = 2;
// How long closing waits for calls that are under way.
const FAREWELL_MS = 1_000;

/**
 * The driver's way to Redis: one connection of its own, made when it is needed. It is never repaired: one that was lost,
 * did not answer in time, or leads to a node that takes no writes is broken off, and the next call makes another. So a
 * call is sent at most once, and one that was given up is not sent later.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #opening = new Set<RedisClient>();
  #session: Session | null = null;
  #connecting: Promise<Session> | null = null;
  #isClosed = false;
  #isEnded = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Runs a script on these queues and levels, and resolves to what it returns. Rejects with `store_unavailable` where it
   * was not sent or did nothing, with `call_timeout` or `outcome_unknown` where nobody knows, else with the reply.
   */
  async run(name: ScriptName, queues: readonly QueueLevels[], words: readonly string[] = []): Promise<unknown> {
    this.checkOpen();
    const call = this.#run({ name, queues, words });
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** A new client that is ready; it is the caller's. Rejects with `store_unavailable` where it is not in time. */
  async open(): Promise<RedisClient> {
    const client = openClient(this.#options.template);
    const seconds = this.#connectTimeout;
    let failure: Error | null = null;
    client.on('error', (error) => {
      failure = error;
    });
    this.#opening.add(client);
    try {
      await within(seconds, client.connect(), () => errors.connectTimedOut(seconds));
      return client;
    } catch (error) {
      breakOff(client);
      // What `connect` rejects with says only that it did not work; the event before it says why.
      throw isQueueError(error) ? error : errors.notConnected(failure ?? error);
    } finally {
      this.#opening.delete(client);
    }
  }

  /** The server's time, and what it says of itself. Rejects as `run` does. */
  async ask(): Promise<{ readonly epochMs: number; readonly info: string }> {
    this.checkOpen();
    const { callTimeout } = this.#options;
    const deadline = new Deadline(callTimeout * 1000);
    const session = await deadline.wait(this.#ready(), () => errors.connectTimedOut(callTimeout));
    try {
      return await deadline.wait(session.ask(), () => errors.callTimedOut(callTimeout));
    } catch (error) {
      this.#judge(session, error);
      throw errors.explained(error);
    }
  }

  /** Another connection to the server has fallen silent: this one is tried, if nothing is under way on it. */
  async suspect(): Promise<void> {
    const session = this.#session;
    if (session === null || this.#underWay.size > 0) return;
    try {
      await within(PROBE_S, session.greet(), () => errors.callTimedOut(PROBE_S));
    } catch (error) {
      this.#judge(session, error);
    }
  }

  /** The key that ids come from, for messages. */
  get counter(): string {
    return this.#options.keys.shared[0] ?? '';
  }

  /** Throws `store_unavailable` once the driver is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw errors.closedDriver();
  }

  /** Calls that are under way may still end, for a moment. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#underWay.size > 0) {
      const ended = Promise.allSettled(this.#underWay);
      await new Deadline(FAREWELL_MS).wait(ended, errors.closedDriver).catch(() => {});
    }
    this.#isEnded = true;
    for (const client of this.#opening) breakOff(client);
    if (this.#underWay.size > 0) this.#session?.breakOff();
    else this.#session?.client.disconnect();
    this.#session = null;
  }

  get #connectTimeout(): number {
    return Math.min(CONNECT_S, this.#options.callTimeout);
  }

  async #run(call: Call): Promise<unknown> {
    const { callTimeout } = this.#options;
    const deadline = new Deadline(callTimeout * 1000);
    for (let round = 1; ; round += 1) {
      const session = await deadline.wait(this.#ready(), () => errors.connectTimedOut(callTimeout));
      try {
        return await deadline.wait(session.run(call, deadline.leftMs), () => errors.callTimedOut(callTimeout));
      } catch (error) {
        this.#judge(session, error);
        if (round > 1 || !errors.isLate(error)) throw errors.explained(error);
      }
      // Refused as late, though it is not: a clock was set, or this machine slept. Nothing was done.
      await this.#greet(session);
    }
  }

  async #ready(): Promise<Session> {
    if (this.#session !== null) {
      if (this.#session.isWritable) return this.#session;
      this.#drop(this.#session);
    }
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Session> {
    const session = new Session(await this.open(), this.#options.keys);
    await this.#greet(session);
    session.client.on('end', () => this.#drop(session));
    this.#session = session;
    return session;
  }

  /** Learns what server this is, and its time. On the node of the prefix: the nodes of a cluster may differ. */
  async #greet(session: Session): Promise<void> {
    const seconds = this.#connectTimeout;
    try {
      const info = await within(seconds, session.greet(), () => errors.connectTimedOut(seconds));
      checkServer(info, this.#options.warn);
      if (this.#isEnded) throw errors.closedDriver();
    } catch (error) {
      this.#drop(session);
      throw errors.notConnected(error);
    }
  }

  #judge(session: Session, error: unknown): void {
    if (!errors.isHarmless(error)) this.#drop(session);
  }

  #drop(session: Session): void {
    if (this.#session === session) this.#session = null;
    session.breakOff();
  }
}

function within<T>(seconds: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Deadline(seconds * 1000).wait(work, late);
}
