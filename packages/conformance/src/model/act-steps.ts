import type { Claim } from '@q/core';
import fc from 'fast-check';
import type { DriverWith } from '../case.js';
import type { Need } from '../harness.js';
import { same } from './compare.js';
import { claimTold, told } from './in-short.js';
import type { Model } from './model.js';
import {
  aClaimChoice,
  aClient,
  aDelay,
  aKind,
  anError,
  aTimeout,
  type ClaimChoice,
  chosenClaim,
  chosenClaims,
  type StepKind,
} from './step.js';
import type { World } from './world.js';

type Acting = 'batches' | 'leases' | 'batchLeases';
/** As if it had all of them: what is called is what the step needs. */
type LeasingDriver = DriverWith<Acting>;

/** A call that acts on a claim: on any that was ever handed out, most of which are stale by then. */
interface Act<A> {
  readonly name: string;
  readonly needs?: readonly Need[];
  readonly weight: number;
  readonly choices: fc.Arbitrary<A>;
  readonly driver: (driver: LeasingDriver, claim: Claim, chosen: A) => Promise<boolean>;
  readonly model: (model: Model, claim: Claim, chosen: A) => boolean;
}

/** The same for several at once: it resolves to those that were lost. */
interface BatchAct<A> extends Omit<Act<A>, 'driver'> {
  readonly driver: (driver: LeasingDriver, claims: readonly Claim[], chosen: A) => Promise<Claim[]>;
}

export const actSteps: readonly StepKind[] = [
  anAct({
    name: 'delete',
    weight: 3,
    choices: fc.record({}),
    driver: (driver, claim) => driver.delete(claim),
    model: (model, claim) => model.delete(claim),
  }),
  anAct({
    name: 'release',
    weight: 4,
    choices: fc.record({ delay: aDelay, error: anError }),
    driver: (driver, claim, { delay, error }) => driver.release(claim, delay, error),
    model: (model, claim, { delay, error }) => model.release(claim, delay, error),
  }),
  anAct({
    name: 'fail',
    weight: 3,
    choices: fc.record({ error: anError }),
    driver: (driver, claim, { error }) => driver.fail(claim, error),
    model: (model, claim, { error }) => model.fail(claim, error),
  }),
  anAct({
    name: 'extend',
    needs: ['leases'],
    weight: 3,
    choices: fc.record({ timeout: aTimeout }),
    driver: (driver, claim, { timeout }) => driver.extend(claim, timeout),
    model: (model, claim, { timeout }) => model.extend(claim, timeout),
  }),
  aBatchAct({
    name: 'deleteMany',
    needs: ['batches'],
    weight: 2,
    choices: fc.record({}),
    driver: (driver, claims) => driver.deleteMany(claims),
    model: (model, claim) => model.delete(claim),
  }),
  aBatchAct({
    name: 'extendMany',
    needs: ['batchLeases'],
    weight: 2,
    choices: fc.record({ timeout: aTimeout }),
    driver: (driver, claims, { timeout }) => driver.extendMany(claims, timeout),
    model: (model, claim, { timeout }) => model.extend(claim, timeout),
  }),
  aKind({
    needs: ['transactions'],
    weight: 1,
    choices: fc.record({ which: aClaimChoice, end: fc.constantFrom('commit', 'rollback') }),
    run: deleteWithin,
  }),
];

function anAct<A extends object>({ name, choices, driver, model, ...kind }: Act<A>): StepKind {
  return aKind({
    ...kind,
    choices: fc.record({ client: aClient, which: aClaimChoice, chosen: choices }),
    run: async (world, { client, which, chosen }) => {
      const claim = chosenClaim(which, world.claims, world.heldClaims());
      if (claim === undefined) return;
      const call = `${client}.${name}(${claimTold(claim)}${chosenTold(chosen)})`;
      const acted = await world.call(call, () => driver(world.client<Acting>(client), claim, chosen));
      same('whether it acted', acted, model(world.model, claim, chosen));
      await world.compareStored();
    },
  });
}

function aBatchAct<A extends object>({ name, choices, driver, model, ...kind }: BatchAct<A>): StepKind {
  return aKind({
    ...kind,
    choices: fc.record({ client: aClient, which: fc.array(aClaimChoice, { maxLength: 4 }), chosen: choices }),
    run: async (world, { client, which, chosen }) => {
      const claims = chosenClaims(which, world.claims, world.heldClaims());
      const call = `${client}.${name}([${claims.map(claimTold).join(', ')}]${chosenTold(chosen)})`;
      const lost = await world.call(call, () => driver(world.client<Acting>(client), claims, chosen));
      const expected = claims.filter((claim) => !model(world.model, claim, chosen));
      same('the claims lost', lost.map(claimTold), expected.map(claimTold));
      await world.compareStored();
    },
  });
}

async function deleteWithin(
  world: World,
  { which, end }: { readonly which: ClaimChoice; readonly end: 'commit' | 'rollback' },
): Promise<void> {
  const claim = chosenClaim(which, world.claims, world.heldClaims());
  if (claim === undefined) return;
  const transaction = await world.store.begin?.();
  if (transaction === undefined) throw new Error('the store has no begin');
  const within = world.client<'transactions'>('A').within(transaction.tx);
  const acted = await world.call(`A.within(tx).delete(${claimTold(claim)}), ${end}`, () => within.delete(claim));
  await transaction[end]();
  const holds = world.model.heldBy(claim) !== undefined;
  if (end === 'commit') world.model.delete(claim);
  same('whether it acted', acted, holds);
  await world.compareStored();
}

function chosenTold(chosen: object): string {
  return Object.values(chosen)
    .map((value) => `, ${told(value)}`)
    .join('');
}
