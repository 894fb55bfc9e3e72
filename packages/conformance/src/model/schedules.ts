import fc from 'fast-check';
import { Clock } from '../clock.js';
import type { Harness, TestStore } from '../harness.js';
import { isThere } from '../run.js';
import { CALL_KINDS, type Call } from './overlapping-calls.js';
import { Playing } from './playing.js';
import { checkProperty, longList, type PropertyOptions, type PropertyResult } from './property.js';
import { Referee } from './referee.js';

/** Calls that overlap, and the seconds that pass when all have been answered. */
interface Round {
  readonly calls: readonly Call[];
  readonly wait: number;
}

const MAX_ROUNDS = 16;

/** More than any delay or claim takes. */
const LONG = 7_200;

/**
 * Plays random schedules: rounds of calls that overlap, of two clients of a fresh store. Who goes first is the store's
 * affair, so no exact answers are expected: after each round is checked what is true whoever went first (referee.ts), and in
 * the end that every job that is left can be reserved. Never rejects for a driver's fault.
 */
export function runSchedules(harness: Harness, options: PropertyOptions = {}): Promise<PropertyResult> {
  const kinds = CALL_KINDS.filter(({ needs }) => needs.every((need) => isThere(harness, need)));
  const aCall = fc.oneof(...kinds.map(({ weight, calls }) => ({ weight, arbitrary: calls })));
  const aRound: fc.Arbitrary<Round> = fc.record({
    calls: longList(aCall, 8),
    wait: fc.constantFrom(0, 0, 0.5, 2, 10, 10),
  });
  const values = longList(aRound, MAX_ROUNDS);
  const play = async (rounds: readonly Round[], story: string[]) => {
    const clock = new Clock();
    const store = await harness.open({ now: clock.now });
    try {
      await playAll(rounds, { clock, store, story });
    } finally {
      await store.close();
    }
  };
  return checkProperty({ option: 'schedules', values, play }, options);
}

interface Surroundings {
  readonly clock: Clock;
  readonly store: TestStore;
  readonly story: string[];
}

async function playAll(rounds: readonly Round[], { clock, store, story }: Surroundings): Promise<void> {
  const clients = { A: store.driver, B: await store.connect() };
  const referee = new Referee(store, clock, clients);
  const playing = new Playing(clients, story);
  for (const { calls, wait } of rounds) {
    await referee.judge(await playing.round(calls));
    clock.advance(wait);
  }
  clock.advance(LONG);
  for (let isEmpty = false; !isEmpty; ) {
    const drained = await playing.drain(LONG);
    await referee.judge(drained);
    isEmpty = drained.given.length === 0;
  }
  await referee.nothingLeft();
}
