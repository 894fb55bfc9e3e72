import fc from 'fast-check';
import type { Need } from '../harness.js';
import type { Client, World } from './world.js';

/** One thing that happens: a call that is made and compared, or time that passes. */
export interface Step {
  run(world: World): Promise<void>;
}

/** A kind of step, and what is chosen at random when one is taken. */
export interface StepKind {
  /** Where one of these is missing no such step is taken. */
  readonly needs: readonly Need[];
  /** How often it is taken, compared with the others. */
  readonly weight: number;
  readonly steps: fc.Arbitrary<Step>;
}

interface KindDefinition<A> {
  readonly needs?: readonly Need[];
  readonly weight: number;
  readonly choices: fc.Arbitrary<A>;
  run(world: World, chosen: A): Promise<void>;
}

/** A kind of step, typed by its choices. */
export function aKind<A>({ needs = [], weight, choices, run }: KindDefinition<A>): StepKind {
  return { needs, weight, steps: choices.map((chosen) => ({ run: (world: World) => run(world, chosen) })) };
}

export const QUEUES = ['a', 'b', 'c'] as const;

// Few values each, so that they meet: ties of priority, keys that are held, claims that expire in the same second.
export const aClient = fc.constantFrom<Client>('A', 'B');
export const aQueue = fc.constantFrom(...QUEUES);
export const someQueues = fc.shuffledSubarray([...QUEUES], { minLength: 1 });
export const aTimeout = fc.constantFrom(60, 60, 10, 10, 2, 1, 0, -5);
export const aDelay = fc.constantFrom(0, 0, 0, 0, 0, 1, 5, 60, -3);
export const aMaxAttempts = fc.constantFrom(3, 1, 0);
export const anError = fc.constantFrom('', 'no', 'nö 😀');

/** Which of a list, counted from its first and round and round: mostly one of the first few. */
export const aPlace = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(15) });

/** Which claim a call is about: mostly one that still holds, sometimes any that was ever handed out. */
export const aClaimChoice = fc.record({ place: aPlace, isHeld: fc.constantFrom(true, true, true, false) });

export interface ClaimChoice {
  readonly place: number;
  readonly isHeld: boolean;
}

/** What a place means in a list: undefined where that is empty. */
export function at<T>(list: readonly T[], place: number): T | undefined {
  return list[place % list.length];
}

/** The claim that was chosen, where there is any. */
export function chosenClaim<C>(
  { place, isHeld }: ClaimChoice,
  claims: readonly C[],
  held: readonly C[],
): C | undefined {
  return at(isHeld && held.length > 0 ? held : claims, place);
}

/** Several that were chosen, each once. */
export function chosenClaims<C>(which: readonly ClaimChoice[], claims: readonly C[], held: readonly C[]): C[] {
  return [...new Set(which.flatMap((one) => chosenClaim(one, claims, held) ?? []))];
}
