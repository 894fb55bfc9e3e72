import { breakOff, isWritable, type RedisClient } from './client.js';
import { isNoScript } from './errors.js';
import { type Keys, keyArguments, type QueueLevels } from './keys.js';
import { textsOf } from './replies.js';
import { SCRIPTS, type ScriptName } from './scripts.js';

/** What is run: a script, the queues and levels whose keys it is given, and its own arguments. */
export interface Call {
  readonly name: ScriptName;
  readonly queues: readonly QueueLevels[];
  readonly words: readonly string[];
}

/**
 * A connection on which scripts are run, and how far the server's clock is from this process's stopwatch. Each call tells
 * the server until when it is wanted: one that lay in some buffer for longer (of a server that was stopped, of a network
 * that was gone) is refused when it gets there, and so does not happen after it was given up. That is all that the
 * server's clock is used for.
 */
export class Session {
  readonly client: RedisClient;
  readonly #keys: Keys;
  #aheadMs = 0;

  constructor(client: RedisClient, keys: Keys) {
    this.client = client;
    this.#keys = keys;
  }

  get isWritable(): boolean {
    return isWritable(this.client);
  }

  /** Asks what server this is, and what its time is. Resolves to what it says of itself. */
  async greet(): Promise<string> {
    const { epochMs, info } = await this.ask();
    // By the time of the answer: a bit early is right, since a bit late is after the call was given up.
    this.#aheadMs = epochMs - performance.now();
    return info;
  }

  /** The server's time, and what it says of itself: `''` where it may not. */
  async ask(): Promise<{ readonly epochMs: number; readonly info: string }> {
    const [serverMs, info = ''] = textsOf(await this.#send({ name: 'greet', queues: [], words: [] }, ''));
    return { epochMs: Number(serverMs), info };
  }

  /** Runs a script that nobody waits for in `leftMs` any more. Rejects with what the client rejects with. */
  run(call: Call, leftMs: number): Promise<unknown> {
    return this.#send(call, String(Math.floor(performance.now() + this.#aheadMs + leftMs)));
  }

  /** By its SHA, which a server that was restarted or told to forget its scripts does not know: then once by its text. */
  async #send({ name, queues, words }: Call, until: string): Promise<unknown> {
    const { sha, text } = SCRIPTS[name];
    const keys = this.#keys.of(queues);
    const sent = [...keys, until, ...keyArguments(queues), ...words];
    try {
      return await this.client.evalsha(sha, keys.length, sent);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return await this.client.eval(text, keys.length, sent);
    }
  }

  /** Ends it in the middle of whatever it does: nothing more is sent. */
  breakOff(): void {
    breakOff(this.client);
  }
}
