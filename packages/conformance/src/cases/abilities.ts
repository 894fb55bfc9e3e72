import { equal, fail } from 'node:assert/strict';
import { ABILITIES, type Ability, abilitiesOf, type QueueDriver } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import type { Trait } from '../harness.js';

const SIX_METHODS = ['push', 'reserve', 'delete', 'release', 'fail', 'pending'] as const;

const BACK_DOORS = ['insertRow', 'jobRows', 'failedRows'] as const satisfies readonly Trait[];

export const abilities: readonly ConformanceCase[] = [
  {
    id: 'abilities/exactly-those-promised',
    name: 'The driver has the six methods, and exactly the abilities its harness promises, all methods of each',
    rule: 'abilities',
    needs: [],
    run: async ({ harness, store }) => {
      for (const driver of [store.driver, await store.connect()]) {
        for (const method of SIX_METHODS) equal(typeof driver[method], 'function', `${method} has to be a method`);
        for (const ability of Object.keys(ABILITIES) as Ability[]) noHalf(driver, ability);
        const [found, promised] = [abilitiesOf(driver), harness.abilities];
        none(found, promised, 'the driver has them, and the abilities of its harness do not say so');
        none(promised, found, 'the harness promises them, and the driver has not got their methods');
      }
    },
  },
  {
    id: 'abilities/back-doors',
    name: 'The harness has every back door that it does not list as lacking, and none that it lists',
    rule: 'abilities',
    needs: [],
    run: async ({ harness, store }) => {
      const promised = BACK_DOORS.filter((door) => harness.lacks?.includes(door) !== true);
      const forTransactions = ['begin', 'notes', 'notTransactions'] as const;
      const doors = harness.abilities.includes('transactions') ? [...promised, ...forTransactions] : promised;
      for (const door of doors) {
        if (store[door] === undefined) fail(`the store that the harness opened has no ${door}`);
      }
      for (const door of BACK_DOORS.filter((one) => !promised.includes(one))) {
        if (store[door] !== undefined)
          fail(`the store has ${door}, which the harness lists as lacking: take it off the list`);
      }
    },
  },
  aCase({
    id: 'abilities/fresh-store-is-empty',
    name: 'A fresh store is empty: nothing is pending, and reserve gives null',
    rule: 'pending',
    run: async ({ driver }) => {
      equal(await driver.pending(), 0, 'pending');
      equal(await driver.reserve(['default'], 60, 'worker-1'), null, 'reserve');
    },
  }),
];

/** Abilities that are on one side and not on the other. */
function none(these: readonly Ability[], those: readonly Ability[], what: string): void {
  const more = these.filter((ability) => !those.includes(ability));
  if (more.length > 0) fail(`${more.join(', ')}: ${what}`);
}

/** A driver has all methods of an ability or none: half an interface is worse than a missing one. */
function noHalf(driver: QueueDriver, ability: Ability): void {
  // The cast: a driver is asked for methods that its type does not name.
  const methods = driver as unknown as Readonly<Record<string, unknown>>;
  const names: readonly string[] = ABILITIES[ability];
  const there = names.filter((name) => typeof methods[name] === 'function');
  if (there.length > 0 && there.length < names.length) {
    fail(`of ${ability} the driver has ${there.join(', ')} alone; there have to be ${names.join(', ')}`);
  }
}
