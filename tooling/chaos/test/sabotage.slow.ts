import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rule } from '../src/checker.js';
import type { Sabotage } from '../src/sabotage.js';
import { startStore } from '../src/stores/start-store.js';
import type { ChaosStore } from '../src/stores/store.js';
import { runStorm } from '../src/storm.js';

const plan = { seed: 1, pushes: 120, troubles: 0, disturbances: [] };
// A sabotaged store may never be empty.
const drainMs = 10_000;

describe('a storm with a sabotaged driver', () => {
  let store: ChaosStore;
  beforeAll(async () => {
    store = await startStore('sqlite');
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it.each<[Sabotage, Rule]>([
    ['loses', 'lost_or_doubled'],
    ['leaks', 'ran_unpushed'],
    ['overlaps', 'claims_overlapped'],
    ['restarts', 'started_too_often'],
    ['doubles', 'key_held_twice'],
    ['forgets', 'tables_disagree'],
  ])('that %s is found to break %s', async (sabotage, rule) => {
    const { violations } = await runStorm(store, { ...plan, sabotage, drainMs });
    expect(violations.map((each) => each.rule)).toContain(rule);
  });

  it('and one with an honest driver is found to break nothing', async () => {
    expect((await runStorm(store, plan)).violations).toEqual([]);
  });
});
