import type { ReservedJob } from '@q/core';
import { QUEUE } from '../jobs.js';
import type { Client, StoreKind } from '../stores/client.js';
import { connect } from '../stores/connect.js';
import type { ChaosStore, Space } from '../stores/store.js';
import { type CutPoint, type CutRelay, startCutRelay } from './cut-relay.js';
import { aJob, OPERATIONS, type Operation, PUSH } from './operations.js';
import { MYSQL, POSTGRES, type Protocol, REDIS } from './protocols.js';

const PROTOCOLS: { readonly [K in StoreKind]: Protocol | null } = {
  postgres: POSTGRES,
  mariadb: MYSQL,
  redis: REDIS,
  sqlite: null,
};

export interface CutResult {
  readonly operation: string;
  /** How often the connection was cut: at each message once before, and once after it where it has an answer. */
  readonly cuts: number;
  /** How many of the cut calls rejected. Of those that did not, the driver had another way. */
  readonly rejected: number;
  /** What was wrong, and where. */
  readonly faults: readonly string[];
}

/** The operations that the store has. */
export function operationsOf(kind: StoreKind): readonly Operation[] {
  return OPERATIONS.filter(({ needs }) => needs === 'nothing' || kind !== 'redis');
}

/**
 * Cuts the connection at every point of one operation, each time on an empty store. `sabotage` makes of a client one that
 * breaks a promise, to see that this is noticed.
 */
export async function cutEverywhere(
  store: ChaosStore,
  operation: Operation,
  sabotage: (client: Client) => Client = (client) => client,
): Promise<CutResult> {
  const faults: string[] = [];
  let cuts = 0;
  let rejected = 0;
  for (let message = 1; ; message += 1) {
    const states: CutRelay['state'][] = [];
    for (const when of ['before', 'after'] as const) {
      const { state, wrong, isRejected } = await cutOnce(store, operation, { message, when }, sabotage);
      states.push(state);
      if (state === 'cut') cuts += 1;
      if (isRejected) rejected += 1;
      faults.push(...wrong.map((what) => `${operation.name}, cut ${when} message ${message}: ${what}`));
    }
    // It has fewer messages than that.
    if (states[0] === 'armed') return { operation: operation.name, cuts, rejected, faults };
  }
}

async function cutOnce(store: ChaosStore, operation: Operation, point: CutPoint, sabotage: (client: Client) => Client) {
  await using space = await store.open();
  const protocol = PROTOCOLS[store.kind];
  if (protocol === null || store.server === null) throw new Error(`${store.kind} has no connections to cut`);
  await using relay = await startCutRelay(store.server.url, protocol);
  const options = { now: () => new Date(), callTimeout: 5 };
  const direct = connect(placeBy(space, store.server.url), options);
  const cut = connect(placeBy(space, relay.url), options);
  try {
    const claim = await prepare(direct, operation);
    await cut.driver.pending(QUEUE); // it is connected before messages are counted
    relay.arm(point);
    const result = await operation.run(sabotage(cut), claim).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const { state } = relay;
    const wrong = await operation.verify({ result, state: await space.finalState(), client: sabotage(direct), claim });
    return { state, wrong, isRejected: 'error' in result };
  } finally {
    await Promise.all([direct.close(), cut.close()]);
  }
}

async function prepare({ driver }: Client, { before }: Operation): Promise<ReservedJob> {
  if (before === 'failed jobs') {
    for (let n = 0; n < 3; n += 1) {
      await driver.push(aJob(`failed-${n}`));
      await driver.fail(await reserved(driver), 'before');
    }
  }
  if (before === 'a job' || before === 'a claim') await driver.push(aJob(PUSH));
  // One that the operation does not ask for names no job.
  if (before !== 'a claim') return NO_CLAIM;
  return reserved(driver);
}

async function reserved(driver: Client['driver']): Promise<ReservedJob> {
  const job = await driver.reserve([QUEUE], 60, 'before');
  if (job === null) throw new Error('there is no job to claim');
  return job;
}

const NO_CLAIM: ReservedJob = {
  id: 0,
  attempts: 0,
  handle: '',
  queue: QUEUE,
  name: '',
  payload: {},
  payloadJson: '{}',
  maxAttempts: 1,
  reclaimed: false,
};

/** The same database, user and prefix, by way of another address. */
function placeBy({ place }: Space, url: string) {
  const there = new URL(place.url);
  there.host = new URL(url).host;
  return { ...place, url: there.href };
}
