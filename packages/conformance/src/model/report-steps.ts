import fc from 'fast-check';
import { compareFailures, failedRowOf, rowOf, same } from './compare.js';
import { told } from './in-short.js';
import type { ModelFailure } from './model-types.js';
import { aClient, aKind, aMaxAttempts, aPlace, aQueue, at, type StepKind } from './step.js';
import type { Client, World } from './world.js';

/** An id that no failed job has. */
const NO_ID = 999_999;

const EVERY_FAILURE = 1_000;

/** Time, in seconds: mostly what a claim or a delay takes, or a part of a second. */
const aWhile = fc.oneof(
  fc.constantFrom(0.001, 0.05, 0.5, 0.95, 0.999, 1, 1.999, 2, 5, 10, 60),
  fc.integer({ min: 1, max: 15_000 }).map((ms) => ms / 1000),
);

export const reportSteps: readonly StepKind[] = [
  aKind({
    weight: 6,
    choices: aWhile,
    run: async ({ clock, story }, seconds) => {
      clock.advance(seconds);
      story.push(`${seconds} s pass: it is ${told(clock.now())}`);
    },
  }),
  aKind({
    weight: 2,
    choices: fc.record({ client: aClient, queue: fc.option(aQueue) }),
    run: async (world, { client, queue }) => {
      const count = await world.call(`${client}.pending(${told(queue)})`, () => world.client(client).pending(queue));
      same('pending', count, world.model.pending(queue));
    },
  }),
  aKind({
    needs: ['reports'],
    weight: 2,
    choices: aClient,
    run: async (world, client) => {
      const stats = await world.call(`${client}.stats()`, () => world.client<'reports'>(client).stats());
      same('stats', stats, world.model.stats());
    },
  }),
  aKind({
    needs: ['reports'],
    weight: 2,
    choices: fc.record({ client: aClient, limit: fc.integer({ min: 0, max: 5 }) }),
    run: async (world, { client, limit }) => {
      const driver = world.client<'reports'>(client);
      const failures = world.model.failures;
      await learnIds(world, client);
      const rows = await world.call(`${client}.failedRows(${limit})`, () => driver.failedRows(limit));
      same('failedRows', rows, failures.toReversed().slice(0, Math.max(1, limit)).map(failedRowOf));
      same('failedCount', await driver.failedCount(), failures.length);
    },
  }),
  aKind({
    needs: ['inspection'],
    weight: 2,
    choices: fc.record({ client: aClient, place: aPlace }),
    run: find,
  }),
  aKind({
    needs: ['reports'],
    weight: 2,
    choices: fc.record({ client: aClient, which: aSelection(), maxAttempts: aMaxAttempts }),
    run: async (world, { client, which, maxAttempts }) => {
      const { selection, selected } = await select(world, client, which);
      const driver = world.client<'reports'>(client);
      const call = `${client}.retryFailed(${told(selection)}, ${maxAttempts})`;
      same('how many', await world.call(call, () => driver.retryFailed(selection, maxAttempts)), selected.length);
      for (const failure of selected) world.model.retry(failure, maxAttempts);
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['reports'],
    weight: 1,
    choices: fc.record({ client: aClient, which: aSelection() }),
    run: async (world, { client, which }) => {
      const { selection, selected } = await select(world, client, which);
      const driver = world.client<'reports'>(client);
      const call = `${client}.forgetFailed(${told(selection)})`;
      same('how many', await world.call(call, () => driver.forgetFailed(selection)), selected.length);
      for (const failure of selected) world.model.forget(failure);
      await world.compareStored();
    },
  }),
  aKind({
    needs: ['reports'],
    weight: 1,
    choices: fc.record({ client: aClient, seconds: fc.constantFrom(-10, -1, -0.001, 0, 0.001, 1) }),
    run: async (world, { client, seconds }) => {
      const before = new Date(world.clock.now().getTime() + seconds * 1000);
      const selected = world.model.failures.filter(({ failedAt }) => failedAt * 1000 < before.getTime());
      const driver = world.client<'reports'>(client);
      const call = `${client}.forgetFailed({ before: ${told(before)} })`;
      same('how many', await world.call(call, () => driver.forgetFailed({ before })), selected.length);
      for (const failure of selected) world.model.forget(failure);
      await world.compareStored();
    },
  }),
];

/** One that failed, all, or one that is not there. */
function aSelection(): fc.Arbitrary<number | 'all' | 'none'> {
  return fc.oneof({ weight: 3, arbitrary: aPlace }, { weight: 1, arbitrary: fc.constantFrom('all', 'none') });
}

async function select(world: World, client: Client, which: number | 'all' | 'none') {
  const { failures } = world.model;
  await learnIds(world, client);
  if (which === 'all') return { selection: which, selected: [...failures] } as const;
  const failure = which === 'none' ? undefined : at(failures, which);
  const selected: readonly ModelFailure[] = failure === undefined ? [] : [failure];
  return { selection: { id: failure?.id ?? NO_ID }, selected } as const;
}

/** Only the store knows the ids of the jobs that failed, and not every harness shows them. */
async function learnIds(world: World, client: Client): Promise<void> {
  if (world.model.failures.every(({ id }) => id !== null)) return;
  compareFailures(await world.client<'reports'>(client).failedRows(EVERY_FAILURE), world.model.failures);
}

async function find(
  world: World,
  { client, place }: { readonly client: Client; readonly place: number },
): Promise<void> {
  const id = at(world.ids, place) ?? NO_ID;
  const { model } = world;
  const found = await world.call(`${client}.find(${id})`, () => world.client<'inspection'>(client).find(id));
  const job = [...model.jobs].find((one) => one.id === id);
  if (job === undefined) return same('find', found, null);
  // How many go before it is certain only where the order is.
  const ahead = world.has('exactOrder') ? model.ahead(job) : found?.ahead;
  same('find', found, { ...rowOf(job), state: model.stateOf(job), ahead });
}
