import { ABILITIES, type Ability, abilitiesOf, hasSchema, type QueueDriver } from '@q/core';
import type { ConformanceCase } from '../case.js';
import { TRAITS, type Trait } from '../harness.js';

/** Why a case is not tried on a scratch twin, for people; null where it is. `disabled` does nothing in this set-up. */
export function whyNotTried(driver: QueueDriver, disabled: ReadonlySet<string>, one: ConformanceCase): string | null {
  if (one.id === 'abilities/back-doors') return 'is about the harness of a test';
  if (one.needs.includes('transactions')) return 'needs a transaction of the application';
  const abilities = abilitiesOf(driver);
  for (const need of one.needs) {
    if (disabled.has(need)) return `needs ${need}, which this set-up goes without`;
    if (isAbility(need)) {
      if (!abilities.includes(need)) return `needs ${need}, which the driver does not have`;
    } else if (!isThere(need, driver)) return `needs what only a test has: ${TRAITS[need]}`;
  }
  return null;
}

/** A store with tables sorts by them. What others promise of their order, their own tests know. */
function isThere(trait: Trait, driver: QueueDriver): boolean {
  return trait === 'exactOrder' && hasSchema(driver);
}

function isAbility(need: string): need is Ability {
  return Object.hasOwn(ABILITIES, need);
}
