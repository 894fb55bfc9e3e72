import { setTimeout as sleep } from 'node:timers/promises';
import type { PgClient } from './client.js';
import { Deadline } from './deadline.js';
import { Session } from './session.js';
import type { StatementTexts } from './statements.js';

export interface ListenerOptions {
  readonly texts: StatementTexts;
  /** A new client, not connected. */
  readonly open: () => PgClient;
  /** A push to this queue was announced; null: to some queue. */
  readonly onAnnounced: (queue: string | null) => void;
  /** It listens from now on. What was announced before that, since the last connection was lost, is not known. */
  readonly onListening: () => void;
  /** The connection did not answer any more: others to the same server may be the same. */
  readonly onSilence: () => void;
  /** There is a pooler in between, which forgets who listens. It has been given up. */
  readonly onPooler: () => void;
}

// A connection that is dead without saying so is noticed within the two together.
const HEARTBEAT_MS = 2_000;
const ANSWER_MS = 2_000;
const CONNECT_MS = 3_000;
const LONGEST_PAUSE_MS = 1_000;
const FAREWELL_MS = 500;

/**
 * A connection of the driver's own that listens for announcements. It is asked from time to time whether it still does,
 * and made anew whenever it does not: a dead one would look just like one on which nothing is announced.
 */
export class Listener {
  /** Settles when it listens, or the first try has failed; it goes on trying all the same. Never rejects. */
  readonly ready: Promise<void>;
  readonly #options: ListenerOptions;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #tried: () => void = () => {};

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#tried = resolve;
    });
    this.#ended = this.#run();
  }

  /** Ends it. Never rejects, and does not wait for a server that does not answer. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    for (let pauseMs = 50; !this.#stop.signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = await this.#listen();
      this.#tried();
      if (outcome === 'pooler') return;
      if (outcome === 'lost') pauseMs = 50;
      // Uneven: after a restart of the server, not everybody at once.
      await this.#pause(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  /** One connection, from its beginning to its end. */
  async #listen(): Promise<'never listened' | 'lost' | 'pooler'> {
    let client: PgClient | null = null;
    let isListening = false;
    try {
      client = this.#options.open();
      const lost = this.#hear(client);
      const session = new Session(client, this.#options.texts);
      if (!(await connectsThrough(client, session))) {
        this.#options.onPooler();
        return 'pooler';
      }
      await within(ANSWER_MS, session.run('listen'));
      isListening = true;
      this.#tried();
      this.#options.onListening();
      await this.#untilLost(session, lost);
    } catch (error) {
      if (isListening && error instanceof Silence) this.#options.onSilence();
    } finally {
      if (client !== null) await leave(client);
    }
    return isListening ? 'lost' : 'never listened';
  }

  /** Listens to all that a client says, from before it connects: an error without a listener would end the process. */
  #hear(client: PgClient): AbortSignal {
    const lost = new AbortController();
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', ({ payload }) => this.#options.onAnnounced(payload || null));
    return lost.signal;
  }

  async #untilLost(session: Session, lost: AbortSignal): Promise<void> {
    const end = AbortSignal.any([lost, this.#stop.signal]);
    while (!end.aborted) {
      await sleep(HEARTBEAT_MS, undefined, { signal: end, ref: false }).catch(() => {});
      if (end.aborted) return;
      const answer = await within(ANSWER_MS, session.first<{ readonly listening: string }>('isListening'));
      if (answer?.listening !== 'true') return;
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
  }
}

/** What is between this process and the server, seen from a client that is not connected yet; it is closed again. */
export async function lookAtTheWay(client: PgClient, texts: StatementTexts): Promise<'direct' | 'pooler'> {
  client.on('error', () => {});
  try {
    return (await connectsThrough(client, new Session(client, texts))) ? 'direct' : 'pooler';
  } finally {
    await leave(client);
  }
}

/** Connects. Whether the connection is the server's to the end: behind a pooler its process is another than announced. */
async function connectsThrough(client: PgClient, session: Session): Promise<boolean> {
  await within(CONNECT_MS, client.connect());
  const server = await within(ANSWER_MS, session.first<{ readonly process: string }>('sessionProcess'));
  return Number(server?.process) === client.processID;
}

class Silence extends Error {}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => {}); // it may fail when nobody waits for it any more
  return new Deadline(ms).wait(work, () => new Silence());
}

/** Says goodbye, and breaks the connection where that is not heard. */
async function leave(client: PgClient): Promise<void> {
  const stream = streamOf(client);
  await within(FAREWELL_MS, client.end()).catch(() => {});
  stream?.destroy();
}

function streamOf(client: PgClient): { destroy(): unknown } | null {
  // The cast: where pg keeps the socket of a client, in all its versions; pg.native has none.
  const { connection } = client as { readonly connection?: { readonly stream?: { destroy(): unknown } } };
  return connection?.stream ?? null;
}
