import type { ReservedJob } from '@q/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aJob, PUSH } from '../src/cuts/operations.js';
import { cutEverywhere, operationsOf } from '../src/cuts/run-cuts.js';
import { withDriver } from '../src/sabotage.js';
import type { Client } from '../src/stores/client.js';
import { startStore } from '../src/stores/start-store.js';
import type { ChaosStore } from '../src/stores/store.js';

type Driver = Client['driver'];
type Sabotage = (client: Client) => Client;

const sabotaged =
  (overrides: (driver: Driver) => Partial<Driver>): Sabotage =>
  (client) =>
    withDriver(client, overrides(client.driver));

/** An error by which every store says that it did nothing. */
const refusal = () => Object.assign(new Error('refused'), { severity: 'ERROR', code: '42000', errno: 1290 });
const denied = <T>(call: Promise<T>) =>
  call.catch(() => {
    throw refusal();
  });

const refuses = sabotaged((driver) => ({
  push: (job) => denied(driver.push(job)),
  reserve: (...args) => denied(driver.reserve(...args)),
  delete: (claim) => denied(driver.delete(claim)),
}));

/** Its own calls in a transaction are made outside of it. */
const apart: Sabotage = (client) => ({
  ...client,
  transactions: {
    async begin() {
      const open = await client.transactions?.begin();
      if (open === undefined) throw new Error('no transactions');
      const { driver } = client;
      const jobs = {
        push: (job: ReturnType<typeof aJob>) => driver.push(job),
        delete: (claim: ReservedJob) => driver.delete(claim),
      };
      return { ...open, jobs: { ...open.jobs, ...jobs } as typeof open.jobs }; // the cast: of jobs of this file alone
    },
  },
});

/** Says that it has committed, whatever the answer was. */
const commitsBlindly: Sabotage = (client) => ({
  ...client,
  transactions: {
    async begin() {
      const open = await client.transactions?.begin();
      if (open === undefined) throw new Error('no transactions');
      return { ...open, commit: () => open.commit().catch(() => open.rollback()) };
    },
  },
});

async function chargesAnAttempt(driver: Driver): Promise<never> {
  const job = await driver.reserve(['default'], 60, 'cut');
  if (job !== null) await driver.release(job, 0, '');
  throw new Error('the connection was lost');
}

const CASES: readonly [operation: string, sentence: string, sabotage: Sabotage][] = [
  ['push', 'it was acknowledged, and is not there', sabotaged((d) => ({ push: (job) => d.push(job).catch(() => 1) }))],
  ['push', 'it was refused, and is there', refuses],
  ['pushMany', '1 jobs are there', sabotaged((d) => ({ push: onceOf(d) }))],
  [
    'claim',
    'a job that was handed out is handed out again',
    sabotaged((d) => ({ reserve: (q, _, w) => d.reserve(q, 0, w) })),
  ],
  [
    'claim',
    '2 jobs are there',
    sabotaged((d) => ({ reserve: (q, t, w) => d.push(aJob(PUSH)).then(() => d.reserve(q, t, w)) })),
  ],
  ['claim', 'it says that it did nothing, and it has claimed', refuses],
  ['claim', 'an attempt was charged without a claim', (client) => withReserveOnce(client)],
  ['delete', 'it resolved to true', sabotaged((d) => ({ delete: (claim) => d.delete(claim).catch(() => true) }))],
  ['delete', 'it was refused, and acted', refuses],
  [
    'delete',
    'the repeated call is not told the truth',
    sabotaged((d) => ({ delete: (c) => d.delete(c).then(() => true) })),
  ],
  ['release', 'the job is not back as a released one', sabotaged((d) => ({ release: (claim) => d.delete(claim) }))],
  ['fail', 'it is 0 times a job and 0 times failed', sabotaged((d) => ({ fail: (claim) => d.delete(claim) }))],
  [
    'fail',
    'the repeated call is not told the truth',
    sabotaged((d) => ({ fail: (c, e) => d.fail(c, e).then(() => true) })),
  ],
  ['retryFailed', 'of 3 there are 1 and, failed, 3', retrying((d) => d.push(aJob(PUSH)))],
  ['retryFailed', 'it says that it is done, and is not', retrying(async () => 3)],
  ['retryFailed', 'the repeated call does not do the rest', retrying(async () => 0)],
  ['push in a transaction', 'only one of the job and its row is there', apart],
  ['complete', 'the effect and the job are both there, or both gone', apart],
  ['complete', 'it says that it has committed, and it has not', commitsBlindly],
  ['complete', 'the fence does not tell which', sabotaged(() => ({ release: async () => true }))],
];

describe('a sabotaged driver whose connection is cut', () => {
  const stores: Partial<Record<'postgres' | 'redis', ChaosStore>> = {};
  beforeAll(async () => {
    stores.postgres = await startStore('postgres');
    stores.redis = await startStore('redis');
  });
  afterAll(() => Promise.all(Object.values(stores).map((store) => store[Symbol.asyncDispose]())));

  it.each(CASES)('at %s is found out: %s', async (name, sentence, sabotage) => {
    // Redis is the quicker of the two, where it has the operation.
    const store = operationsOf('redis').some((each) => each.name === name) ? stores.redis : stores.postgres;
    const operation = operationsOf('postgres').find((each) => each.name === name);
    if (store === undefined || operation === undefined) throw new Error(`there is no ${name}`);
    const { faults } = await cutEverywhere(store, operation, sabotage);
    expect(faults.filter((fault) => fault.endsWith(`: ${sentence}`))).not.toEqual([]);
  });
});

/** A push of which every second one is swallowed. */
function onceOf(driver: Driver): Driver['push'] {
  let calls = 0;
  return (job) => {
    calls += 1;
    return calls % 2 === 1 ? driver.push(job) : Promise.resolve(1);
  };
}

/** Only the client that is cut: the verifier claims with the other, by the name `next`. */
function withReserveOnce(client: Client): Client {
  const { driver } = client;
  return withDriver(client, {
    reserve: (queues, timeout, worker) =>
      worker === 'next' ? driver.reserve(queues, timeout, worker) : chargesAnAttempt(driver),
  });
}

function retrying(instead: (driver: Driver) => Promise<number>): Sabotage {
  return sabotaged((driver) => ({ retryFailed: () => instead(driver) }) as Partial<Driver>); // the cast: an ability
}
