import type { NewJob } from '@q/core';
import fc from 'fast-check';
import { same } from './compare.js';
import { told } from './in-short.js';
import { aClient, aDelay, aKind, aMaxAttempts, aQueue, type StepKind } from './step.js';
import type { World } from './world.js';

/** A job to push, its payload aside. */
export const aNewJob = fc.record({
  queue: aQueue,
  priority: fc.constantFrom(0, 0, 1, -1),
  delay: aDelay,
  unique: fc.constantFrom(null, null, '', 'k', 'k', 'K'),
  maxAttempts: aMaxAttempts,
});

type Chosen = typeof aNewJob extends fc.Arbitrary<infer A> ? A : never;

/** What another hand may write for a payload, each with a number that tells it apart; the first two are payloads. */
const TEXTS = [' {"n": #}\n', '["#"]', 'nonsense #', '{"n":#', '#', '"#"', "{'n':#}"] as const;

export const pushSteps: readonly StepKind[] = [
  aKind({
    weight: 8,
    choices: fc.record({ client: aClient, chosen: aNewJob }),
    run: async (world, { client, chosen }) => {
      const job = newJob(world, chosen);
      pushed(world, job, await world.call(`${client}.push(${told(chosen)})`, () => world.client(client).push(job)));
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['batches'],
    weight: 2,
    choices: fc.record({ client: aClient, chosen: fc.array(aNewJob, { maxLength: 4 }) }),
    run: async (world, { client, chosen }) => {
      const jobs = chosen.map((one) => newJob(world, one));
      const driver = world.client<'batches'>(client);
      const ids = await world.call(`${client}.pushMany(${told(chosen)})`, () => driver.pushMany(jobs));
      same('how many ids were given', ids.length, jobs.length);
      for (const [index, job] of jobs.entries()) pushed(world, job, ids[index] ?? 0);
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['transactions'],
    weight: 2,
    choices: fc.record({
      end: fc.constantFrom('commit', 'rollback'),
      chosen: fc.array(aNewJob, { minLength: 1, maxLength: 3 }),
    }),
    run: async (world, { end, chosen }) => {
      const jobs = chosen.map((one) => newJob(world, one));
      const transaction = await world.store.begin?.();
      if (transaction === undefined) throw new Error('the store has no begin');
      const within = world.client<'transactions'>('A').within(transaction.tx);
      const push = async () => {
        const [first, ...rest] = jobs;
        return first === undefined ? [] : [await within.push(first), ...(await within.pushMany(rest))];
      };
      const ids = await world.call(`A.within(tx).push and pushMany(${told(chosen)}), ${end}`, push);
      await transaction[end]();
      same('how many ids were given', ids.length, jobs.length);
      if (end === 'commit') for (const [index, job] of jobs.entries()) pushed(world, job, ids[index] ?? 0);
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['insertRow', 'jobRows'],
    weight: 2,
    choices: fc.record({ queue: aQueue, priority: fc.constantFrom(0, 1), text: fc.constantFrom(...TEXTS) }),
    run: async (world, { queue, priority, text }) => {
      const n = world.newPayload().n;
      // Which of several broken rows is met first has to be certain: without an exact order each has its own priority.
      const place = world.has('exactOrder') ? priority : 100 + n;
      const row = { queue, name: 'job', payloadJson: text.replace('#', String(n)), priority: place };
      const now = world.clock.second();
      const full = { ...row, maxAttempts: 3, availableAt: now, createdAt: now };
      world.model.insert(
        await world.call(`another hand writes ${told(row)}`, () => world.store.insertRow?.(full) ?? 0),
        row,
      );
      await world.compareStored();
    },
  }),
];

function newJob(world: World, chosen: Chosen): NewJob {
  return { ...chosen, name: 'job', payload: world.newPayload() };
}

/** The id has to be that of a new job, or of the one that holds the key. */
function pushed({ model, ids }: World, job: NewJob, id: number): void {
  same('the id of the push', id, model.push(id, job).id);
  ids.unshift(id);
}
