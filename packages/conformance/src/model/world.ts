import type { QueueDriver, ReservedJob } from '@q/core';
import type { DriverWith } from '../case.js';
import type { Clock } from '../clock.js';
import type { Harness, Need, TestStore } from '../harness.js';
import { isThere } from '../run.js';
import { compareFailures, compareRows } from './compare.js';
import { told } from './in-short.js';
import { Model } from './model.js';

/** Who calls: two applications' processes. */
export type Client = 'A' | 'B';

export interface Surroundings {
  readonly harness: Harness;
  readonly clock: Clock;
  readonly store: TestStore;
  readonly story: string[];
}

/** What a sequence of calls is played in: the store with two clients on it, and the model that says what they answer. */
export class World {
  readonly model: Model;
  readonly clock: Clock;
  readonly store: TestStore;
  /** Every claim that was ever handed out, the last one first. */
  readonly claims: ReservedJob[] = [];
  /** The id of every job that was ever pushed, the last one first. */
  readonly ids: number[] = [];
  /** What has happened so far, a line for each call. */
  readonly story: string[];
  readonly #harness: Harness;
  readonly #clients: Readonly<Record<Client, QueueDriver>>;
  #payloads = 0;

  private constructor({ harness, clock, store, story }: Surroundings, other: QueueDriver) {
    this.#harness = harness;
    this.#clients = { A: store.driver, B: other };
    this.clock = clock;
    this.store = store;
    this.story = story;
    this.model = new Model(clock.now, this.has('exactOrder'));
  }

  static async open(surroundings: Surroundings): Promise<World> {
    return new World(surroundings, await surroundings.store.connect());
  }

  has(need: Need): boolean {
    return isThere(this.#harness, need);
  }

  /** A client, with the abilities that a step needs. */
  client<N extends Need = never>(client: Client): DriverWith<N> {
    // The cast: a step is played only where the harness promises what it needs (steps.ts).
    return this.#clients[client] as DriverWith<N>;
  }

  /** The claims that still hold, the last one first. */
  heldClaims(): ReservedJob[] {
    return this.claims.filter((claim) => this.model.heldBy(claim) !== undefined);
  }

  /** A payload that no other job of this world has: it tells jobs apart whose ids only the store knows. */
  newPayload(): { readonly n: number } {
    this.#payloads += 1;
    return { n: this.#payloads };
  }

  /** Makes a call, and keeps what it answered for the story. */
  async call<T>(what: string, act: () => T): Promise<Awaited<T>> {
    try {
      const answer = await act();
      this.story.push(`${what} = ${told(answer)}`);
      return answer;
    } catch (error) {
      this.story.push(`${what} rejected`);
      throw error;
    }
  }

  /** Asserts that what is stored is what the model holds, column by column, where the harness can look. */
  async compareStored(): Promise<void> {
    if (this.store.jobRows !== undefined) compareRows(await this.store.jobRows(), this.model);
    if (this.store.failedRows !== undefined) compareFailures(await this.store.failedRows(), this.model.failures);
  }
}
