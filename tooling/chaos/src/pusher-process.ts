/**
 * Pushes jobs in every way there is, and writes down what it was told: `node dist/pusher-process.js '<options as JSON>'`.
 * Ends when it has pushed `count`, or on SIGTERM.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewJob } from '@q/core';
import { exitOnCrash, tellProgress } from './crash.js';
import { JOB, QUEUE, somePayload } from './jobs.js';
import { Ledger, type PushMode, ROLLED_BACK } from './ledger.js';
import { between, pick, type Random, randomFrom } from './random.js';
import { SABOTAGE, type Sabotage } from './sabotage.js';
import type { Client, Place } from './stores/client.js';
import { connect } from './stores/connect.js';

export interface PusherOptions {
  readonly place: Place;
  readonly ledger: string;
  readonly name: string;
  readonly seed: number;
  readonly count: number;
  /** The longest pause between two pushes, in milliseconds. */
  readonly pauseMs: number;
  readonly clockShiftSeconds: number;
  /** A promise that its client breaks, to see that the checker notices. */
  readonly sabotage: Sabotage | null;
}

// Few enough that they meet.
const KEYS = ['k1', 'k2', 'k3', 'k4', 'k5'];

interface Pushing {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly random: Random;
}

exitOnCrash();
// The cast: written by storm.ts.
const options = JSON.parse(process.argv[2] ?? '{}') as PusherOptions;

async function main(): Promise<void> {
  const { place, name, seed, count, pauseMs, clockShiftSeconds, sabotage } = options;
  const now = () => new Date(Date.now() + clockShiftSeconds * 1000);
  const honest = connect(place, { now, callTimeout: 5 });
  const client = sabotage === null ? honest : SABOTAGE[sabotage](honest);
  const pushing: Pushing = { client, ledger: new Ledger(options.ledger, name), random: randomFrom(seed) };
  let isStopped = false;
  process.on('SIGTERM', () => {
    isStopped = true;
  });
  for (let n = 0; n < count && !isStopped; n += 1) {
    await pushOne(pushing, `${name}-${n}`);
    await sleep(between(pushing.random, 0, pauseMs));
  }
  await client.close();
}

async function pushOne({ client, ledger, random }: Pushing, push: string): Promise<void> {
  const mode: PushMode = client.transactions === null ? 'plain' : pick(random, ['plain', 'commit', 'rollback']);
  const job = someJob(random, push, client.transactions !== null);
  ledger.write({ what: 'pushing', push, mode, unique: job.unique, maxAttempts: job.maxAttempts });
  try {
    const id = await (mode === 'plain' ? pushPlainly(client, job, random) : pushWithin(client, job, mode));
    if (id === null) ledger.write({ what: 'not_pushed', push, error: ROLLED_BACK });
    else ledger.write({ what: 'pushed', push, id });
    if (id !== null) tellProgress();
  } catch (error) {
    const isKnown = error instanceof NotCommitted || client.isRefusal(error);
    ledger.write({ what: isKnown ? 'not_pushed' : 'push_unknown', push, error: String(error) });
  }
}

async function pushPlainly({ driver }: Client, job: NewJob, random: Random): Promise<number> {
  if (random() < 0.7) return driver.push(job);
  const [id] = await driver.pushMany([job]);
  if (id === undefined) throw new Error('pushMany gave no id');
  return id;
}

/** A transaction that failed before its COMMIT was sent: its job is not there. */
class NotCommitted extends Error {}

async function pushWithin({ transactions }: Client, job: NewJob, mode: PushMode): Promise<number | null> {
  const open = await transactions?.begin().catch((error: unknown) => {
    throw new NotCommitted(String(error));
  });
  if (open === undefined) throw new NotCommitted('no transactions');
  let id: number;
  try {
    id = await open.jobs.push(job);
  } catch (error) {
    await open.rollback();
    throw new NotCommitted(String(error));
  }
  if (mode === 'rollback') {
    await open.rollback();
    return null;
  }
  try {
    await open.commit();
  } catch (error) {
    await open.rollback();
    throw error;
  }
  return id;
}

function someJob(random: Random, push: string, hasTransactions: boolean): NewJob {
  return {
    name: JOB,
    payload: somePayload(random, push, hasTransactions),
    delay: random() < 0.15 ? 1 : 0,
    queue: QUEUE,
    priority: random() < 0.2 ? 5 : 0,
    unique: random() < 0.15 ? pick(random, KEYS) : null,
    maxAttempts: between(random, 2, 4),
  };
}

await main();
