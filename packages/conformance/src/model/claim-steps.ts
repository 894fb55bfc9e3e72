import type { ReservedJob } from '@q/core';
import fc from 'fast-check';
import { same } from './compare.js';
import { claimTold, told } from './in-short.js';
import { isDecodable } from './model.js';
import type { Taken } from './model-types.js';
import { aClaimChoice, aClient, aKind, aTimeout, chosenClaims, type StepKind, someQueues } from './step.js';
import type { Client, World } from './world.js';

interface Reserving {
  readonly client: Client;
  readonly queues: readonly string[];
  readonly timeout: number;
}

export const claimSteps: readonly StepKind[] = [
  aKind({
    weight: 8,
    choices: fc.record({ client: aClient, queues: someQueues, timeout: aTimeout }),
    run: reserve,
  }),
  aKind({
    needs: ['batches'],
    weight: 4,
    // A batch of claims that have expired already may be smaller than its limit: so none is asked for.
    choices: fc.record({
      client: aClient,
      queues: someQueues,
      timeout: fc.constantFrom(10, 2),
      limit: fc.integer({ min: 0, max: 4 }),
    }),
    run: async (world, { limit, ...reserving }) => {
      if (hasManyBroken(world, reserving.queues)) return reserve(world, reserving);
      const { client, queues, timeout } = reserving;
      const call = `${client}.reserveMany(${told(queues)}, ${limit}, ${timeout})`;
      const driver = world.client<'batches'>(client);
      const jobs = await world.call(call, () => driver.reserveMany(queues, limit, timeout, client));
      const request = { queues, timeout, worker: client, mayTakeOver: true };
      given(world, world.model.reserveMany(limit, request, payloadsOf(jobs)), jobs);
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['turnover'],
    weight: 4,
    choices: fc.record({
      client: aClient,
      which: fc.array(aClaimChoice, { maxLength: 4 }),
      queues: someQueues,
      timeout: fc.constantFrom(10, 2),
      limit: fc.integer({ min: 0, max: 4 }),
    }),
    run: async (world, { which, limit, ...reserving }) => {
      if (hasManyBroken(world, reserving.queues)) return reserve(world, reserving);
      const { client, queues, timeout } = reserving;
      const claims = chosenClaims(which, world.claims, world.heldClaims());
      const call = `${client}.deleteAndReserve([${claims.map(claimTold).join(', ')}], ${told(queues)}, ${limit}, ${timeout})`;
      const driver = world.client<'turnover'>(client);
      const { lost, jobs } = await world.call(call, () =>
        driver.deleteAndReserve(claims, queues, limit, timeout, client),
      );
      const expected = claims.filter((claim) => !world.model.delete(claim));
      same('the claims lost', lost.map(claimTold), expected.map(claimTold));
      const request = { queues, timeout, worker: client, mayTakeOver: true };
      given(world, world.model.reserveMany(limit, request, payloadsOf(jobs)), jobs);
      await world.compareStored();
    },
  }),
];

async function reserve(world: World, { client, queues, timeout }: Reserving): Promise<void> {
  const call = `${client}.reserve(${told(queues)}, ${timeout})`;
  const job = await world.call(call, () => world.client(client).reserve(queues, timeout, client));
  const jobs = job === null ? [] : [job];
  const taken = world.model.reserve({ queues, timeout, worker: client, mayTakeOver: true }, payloadsOf(jobs));
  given(world, taken === null ? [] : [taken], jobs);
  await world.compareStored();
}

/** The jobs have to be those that the model has taken. Learns the ids that only the store knew. */
function given(world: World, expected: readonly Taken[], jobs: readonly ReservedJob[]): void {
  for (const [index, { job }] of expected.entries()) job.id ??= jobs[index]?.id ?? null;
  same('the jobs handed out', jobs.map(withoutHandle), expected.map(handedOut));
  for (const job of jobs) world.claims.unshift(job);
}

function payloadsOf(jobs: readonly ReservedJob[]): string[] {
  return jobs.map(({ payloadJson }) => payloadJson);
}

function withoutHandle({ handle: _, ...job }: ReservedJob): Omit<ReservedJob, 'handle'> {
  return job;
}

function handedOut({ job, reclaimed }: Taken) {
  const { id, queue, name, payloadJson, attempts, maxAttempts } = job;
  return { id, queue, name, payload: JSON.parse(payloadJson), payloadJson, attempts, maxAttempts, reclaimed };
}

/** How many broken rows one round of a batch steps over is the store's affair: such a queue is left to reserve. */
function hasManyBroken({ model }: World, queues: readonly string[]): boolean {
  const broken = [...model.jobs].filter((job) => queues.includes(job.queue) && !isDecodable(job));
  return broken.length >= 5;
}
