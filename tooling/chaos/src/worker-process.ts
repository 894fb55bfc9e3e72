/**
 * A worker that writes down every claim, start, end and outcome: `node dist/worker-process.js '<options as JSON>'`. Leaves
 * on SIGTERM when what it has in hand is done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineHandlers, type Handlers, handler, type Job, Queue, Worker } from '@q/core';
import { exitOnCrash, tellProgress } from './crash.js';
import { type ChaosPayload, JOB } from './jobs.js';
import { Ledger } from './ledger.js';
import { recording } from './recording.js';
import { SABOTAGE, type Sabotage } from './sabotage.js';
import type { Client, Place } from './stores/client.js';
import { connect } from './stores/connect.js';
import { noteVitals } from './vitals.js';

export interface ChaosWorkerOptions {
  readonly place: Place;
  readonly ledger: string;
  readonly name: string;
  readonly concurrency: number;
  /** Seconds. */
  readonly lease: number;
  readonly clockShiftSeconds: number;
  /** A promise that its client breaks, to see that the checker notices. */
  readonly sabotage: Sabotage | null;
  /** Where it notes how it is, once a second. */
  readonly vitals?: string;
}

exitOnCrash();
// The cast: written by storm.ts.
const options = JSON.parse(process.argv[2] ?? '{}') as ChaosWorkerOptions;
const { place, name, concurrency, lease, clockShiftSeconds, sabotage } = options;
const ledger = new Ledger(options.ledger, name);
if (options.vitals !== undefined) noteVitals(options.vitals);
const honest = connect(place, { now: () => new Date(Date.now() + clockShiftSeconds * 1000), callTimeout: 5 });
const client = sabotage === null ? honest : SABOTAGE[sabotage](honest);

async function handle({ push, deed, ms }: ChaosPayload, job: Job<ChaosPayload, unknown>): Promise<void> {
  const { id, attempts, maxAttempts } = job;
  ledger.write({ what: 'started', id, attempts, maxAttempts, push });
  tellProgress();
  try {
    await sleep(ms, undefined, { signal: job.signal });
    if (deed === 'throw' || (deed === 'throw once' && attempts === 1)) throw new Error(deed);
    if (deed === 'release' && attempts < 3) job.release(1);
    if (deed === 'complete') await complete(client, push, job);
  } catch (error) {
    ledger.write({ what: 'ended', id, attempts, how: 'thrown' });
    throw error;
  }
  ledger.write({ what: 'ended', id, attempts, how: 'returned' });
}

async function complete({ transactions }: Client, push: string, job: Job<ChaosPayload, unknown>): Promise<void> {
  const open = await transactions?.begin();
  if (open === undefined) throw new Error('a store without transactions has no such jobs');
  try {
    await open.leaveEffect(push);
    await job.complete(open.tx);
    await open.commit();
  } catch (error) {
    await open.rollback();
    throw error;
  }
  ledger.write({ what: 'committed', id: job.id, attempts: job.attempts });
}

const driver = recording(client.driver, ledger);
// The cast: a registry for a driver whose kind is known at run time alone.
const handlers = defineHandlers({ [JOB]: handler(handle as never) }) as Handlers;
const queue = new Queue({ driver, handlers: handlers as never, backoff: 1 });
const worker = new Worker({
  queue,
  concurrency,
  lease,
  sleep: 0.1,
  timeout: 20,
  grace: 1,
  driverTimeout: 5,
  signals: true,
});
process.exitCode = await worker.run();
await client.close().catch(() => {});
