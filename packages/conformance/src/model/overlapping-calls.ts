import type { ReservedJob } from '@q/core';
import fc from 'fast-check';
import type { DriverWith } from '../case.js';
import type { Need } from '../harness.js';
import { same } from './compare.js';
import { claimTold, told } from './in-short.js';
import type { Acted, Playing } from './playing.js';
import { aNewJob } from './push-steps.js';
import { aClaimChoice, aClient, chosenClaim, chosenClaims, someQueues } from './step.js';
import type { Client } from './world.js';

type Everything = DriverWith<'reports' | 'batches' | 'leases' | 'batchLeases' | 'turnover'>;

/** A call that is begun beside others, some turns of the event loop after them. */
export interface Call {
  readonly turns: number;
  run(playing: Playing): Promise<void>;
}

/** A kind of call, and what is chosen at random when one is made. */
export interface CallKind {
  readonly needs: readonly Need[];
  readonly weight: number;
  readonly calls: fc.Arbitrary<Call>;
}

interface KindDefinition<A> {
  readonly needs?: readonly Need[];
  readonly weight: number;
  readonly choices: fc.Arbitrary<A>;
  run(playing: Playing, caller: { readonly client: Client; readonly driver: Everything }, chosen: A): Promise<void>;
}

// Claims that soon expire and jobs that come back later: it is about those that calls meet.
const aShortTimeout = fc.constantFrom(10, 10, 2, 2, 60, 0);
const aBatchTimeout = fc.constantFrom(10, 2, 60);
const aBackDelay = fc.constantFrom(0, 0, 5, 60);

export const CALL_KINDS: readonly CallKind[] = [
  aCallKind({
    weight: 6,
    choices: aNewJob,
    run: async (playing, { client, driver }, chosen) => {
      const job = { ...chosen, name: 'job', payload: playing.newPayload() };
      const id = await playing.call(`${client}.push(${told(chosen)})`, () => driver.push(job));
      playing.played.pushes.push({ job, id });
    },
  }),
  aCallKind({
    needs: ['batches'],
    weight: 2,
    choices: fc.array(aNewJob, { maxLength: 4 }),
    run: async (playing, { client, driver }, chosen) => {
      const jobs = chosen.map((one) => ({ ...one, name: 'job', payload: playing.newPayload() }));
      const ids = await playing.call(`${client}.pushMany(${told(chosen)})`, () => driver.pushMany(jobs));
      same('how many ids were given', ids.length, jobs.length);
      for (const [index, job] of jobs.entries()) playing.played.pushes.push({ job, id: ids[index] ?? 0 });
    },
  }),
  aCallKind({
    weight: 6,
    choices: fc.record({ queues: someQueues, timeout: aShortTimeout }),
    run: async (playing, { client, driver }, { queues, timeout }) => {
      const call = `${client}.reserve(${told(queues)}, ${timeout})`;
      const job = await playing.call(call, () => driver.reserve(queues, timeout, client));
      if (job !== null) playing.played.given.push({ job, timeout });
    },
  }),
  aCallKind({
    needs: ['batches'],
    weight: 3,
    choices: fc.record({ queues: someQueues, limit: fc.integer({ min: 1, max: 4 }), timeout: aBatchTimeout }),
    run: async (playing, { client, driver }, { queues, limit, timeout }) => {
      const call = `${client}.reserveMany(${told(queues)}, ${limit}, ${timeout})`;
      const jobs = await playing.call(call, () => driver.reserveMany(queues, limit, timeout, client));
      batchGiven(playing, jobs, { limit, timeout });
    },
  }),
  aCallKind({
    needs: ['turnover'],
    weight: 3,
    choices: fc.record({
      which: fc.array(aClaimChoice, { maxLength: 3 }),
      queues: someQueues,
      limit: fc.integer({ min: 1, max: 4 }),
      timeout: aBatchTimeout,
    }),
    run: async (playing, { client, driver }, { which, queues, limit, timeout }) => {
      const claims = chosenClaims(which, playing.claims, playing.held);
      const call = `${client}.deleteAndReserve([${claims.map(claimTold).join(', ')}], ${told(queues)}, ${limit}, ${timeout})`;
      const { lost, jobs } = await playing.call(call, () =>
        driver.deleteAndReserve(claims, queues, limit, timeout, client),
      );
      for (const claim of claims) {
        playing.played.acts.push({ method: 'delete', claim, seconds: 0, acted: !lost.includes(claim) });
      }
      batchGiven(playing, jobs, { limit, timeout });
    },
  }),
  anActKind(4, { method: 'delete', seconds: fc.constant(0), act: (driver, claim) => driver.delete(claim) }),
  anActKind(4, {
    method: 'release',
    seconds: aBackDelay,
    act: (driver, claim, delay) => driver.release(claim, delay, 'no'),
  }),
  anActKind(4, { method: 'fail', seconds: fc.constant(0), act: (driver, claim) => driver.fail(claim, 'no') }),
  {
    ...anActKind(3, {
      method: 'extend',
      seconds: aShortTimeout,
      act: (driver, claim, timeout) => driver.extend(claim, timeout),
    }),
    needs: ['leases'],
  },
  {
    ...aBatchKind({ method: 'delete', seconds: fc.constant(0), act: (driver, claims) => driver.deleteMany(claims) }),
    needs: ['batches'],
  },
  {
    ...aBatchKind({
      method: 'extend',
      seconds: aShortTimeout,
      act: (driver, claims, timeout) => driver.extendMany(claims, timeout),
    }),
    needs: ['batchLeases'],
  },
  aCallKind({
    needs: ['reports'],
    weight: 2,
    choices: fc.constant(null),
    run: async (playing, { client, driver }) => {
      const requeued = await playing.call(`${client}.retryFailed('all')`, () => driver.retryFailed('all', 3));
      playing.played.requeued += requeued;
    },
  }),
];

interface Acting<A> {
  readonly method: Acted['method'];
  /** The delay of a release, the timeout of an extension. */
  readonly seconds: fc.Arbitrary<number>;
  readonly act: A;
}

type Act = (driver: Everything, claim: ReservedJob, seconds: number) => Promise<boolean>;
type BatchAct = (driver: Everything, claims: readonly ReservedJob[], seconds: number) => Promise<ReservedJob[]>;

function aCallKind<A>({ needs = [], weight, choices, run }: KindDefinition<A>): CallKind {
  const calls = fc.record({ client: aClient, turns: fc.nat(3), chosen: choices }).map(({ client, turns, chosen }) => ({
    turns,
    run: (playing: Playing) => {
      // The cast: only what the harness promises is called.
      const driver = playing.clients[client] as Everything;
      return run(playing, { client, driver }, chosen);
    },
  }));
  return { needs, weight, calls };
}

/** A call on a claim that was handed out before the round. */
function anActKind(weight: number, { method, seconds, act }: Acting<Act>): CallKind {
  return aCallKind({
    weight,
    choices: fc.record({ which: aClaimChoice, seconds }),
    run: async (playing, { client, driver }, chosen) => {
      const claim = chosenClaim(chosen.which, playing.claims, playing.held);
      if (claim === undefined) return;
      const call = `${client}.${method}(${claimTold(claim)}, ${chosen.seconds})`;
      const acted = await playing.call(call, () => act(driver, claim, chosen.seconds));
      playing.played.acts.push({ method, claim, seconds: chosen.seconds, acted });
    },
  });
}

/** The same on several at once. */
function aBatchKind({ method, seconds, act }: Acting<BatchAct>): CallKind {
  return aCallKind({
    weight: 2,
    choices: fc.record({ which: fc.array(aClaimChoice, { minLength: 1, maxLength: 3 }), seconds }),
    run: async (playing, { client, driver }, chosen) => {
      const claims = chosenClaims(chosen.which, playing.claims, playing.held);
      const call = `${client}.${method}Many([${claims.map(claimTold).join(', ')}], ${chosen.seconds})`;
      const lost = await playing.call(call, () => act(driver, claims, chosen.seconds));
      for (const claim of claims) {
        playing.played.acts.push({ method, claim, seconds: chosen.seconds, acted: !lost.includes(claim) });
      }
    },
  });
}

function batchGiven(
  playing: Playing,
  jobs: readonly ReservedJob[],
  { limit, timeout }: { readonly limit: number; readonly timeout: number },
): void {
  same('whether the batch is within its limit', jobs.length <= limit, true);
  same('whether a job that was taken over is alone', jobs.length > 1 && jobs.some(isReclaimed), false);
  for (const job of jobs) playing.played.given.push({ job, timeout });
}

function isReclaimed({ reclaimed }: ReservedJob): boolean {
  return reclaimed;
}
