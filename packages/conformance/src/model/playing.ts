import type { Claim, NewJob, QueueDriver, ReservedJob } from '@q/core';
import { shortTurn } from '../fixtures.js';
import { told } from './in-short.js';
import type { Call } from './overlapping-calls.js';
import { QUEUES } from './step.js';
import type { Client } from './world.js';

/** What was asked in one round, and answered. */
export interface Played {
  readonly pushes: { readonly job: NewJob; readonly id: number }[];
  readonly given: ReservedGiven[];
  readonly acts: Acted[];
  /** How many jobs the retries say that they requeued. */
  requeued: number;
}

export interface ReservedGiven {
  readonly job: ReservedJob;
  readonly timeout: number;
}

/** A call on a claim. `seconds`: the timeout of an extension, the delay of a release. */
export interface Acted {
  readonly method: 'delete' | 'release' | 'fail' | 'extend';
  readonly claim: Claim;
  readonly seconds: number;
  readonly acted: boolean;
}

/** Makes calls at the same time, and keeps what was answered. */
export class Playing {
  /** The claims that were handed out in earlier rounds, the last one first. */
  claims: readonly ReservedJob[] = [];
  /** Those of them that nobody is known to have ended. */
  held: readonly ReservedJob[] = [];
  readonly clients: Readonly<Record<Client, QueueDriver>>;
  played: Played = nothing();
  readonly #story: string[];
  #rounds = 0;
  #payloads = 0;

  constructor(clients: Readonly<Record<Client, QueueDriver>>, story: string[]) {
    this.clients = clients;
    this.#story = story;
  }

  async round(calls: readonly Pick<Call, 'turns' | 'run'>[]): Promise<Played> {
    this.#rounds += 1;
    const played = nothing();
    this.played = played;
    // Settled, not only begun: a store is not to be closed under a call.
    const settled = await Promise.allSettled(
      calls.map(async ({ turns, run }) => {
        for (let count = 0; count < turns; count += 1) await shortTurn();
        await run(this);
      }),
    );
    this.#keepClaims(played);
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
    return played;
  }

  /** Both clients take what they can, until nothing is given. */
  async drain(timeout: number): Promise<Played> {
    const reserving = (client: Client) => ({
      turns: 0,
      run: async () => {
        const driver = this.clients[client];
        const job = await this.call(`${client}.reserve()`, () => driver.reserve(QUEUES, timeout, client));
        if (job !== null) this.played.given.push({ job, timeout });
      },
    });
    return this.round([reserving('A'), reserving('B')]);
  }

  #keepClaims({ given, acts }: Played): void {
    const newest = given.map(({ job }) => job).reverse();
    const ended = new Set(acts.filter(({ method, acted }) => acted && method !== 'extend').map(({ claim }) => claim));
    this.claims = [...newest, ...this.claims];
    this.held = [...newest, ...this.held].filter((claim) => !ended.has(claim));
  }

  /** A payload that no other job has. */
  newPayload(): { readonly n: number } {
    this.#payloads += 1;
    return { n: this.#payloads };
  }

  /** Makes a call, and keeps what it answered for the story. */
  async call<T>(what: string, act: () => Promise<T>): Promise<T> {
    const round = `[${this.#rounds}]`;
    try {
      const answer = await act();
      this.#story.push(`${round} ${what} = ${told(answer)}`);
      return answer;
    } catch (error) {
      this.#story.push(`${round} ${what} rejected`);
      throw error;
    }
  }
}

function nothing(): Played {
  return { pushes: [], given: [], acts: [], requeued: 0 };
}
