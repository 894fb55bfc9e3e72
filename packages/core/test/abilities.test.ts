import { describe, expect, it } from 'vitest';
import {
  ABILITIES,
  type Ability,
  abilitiesOf,
  hasBatches,
  hasBatchLeases,
  hasDiagnosis,
  hasInspection,
  hasLeases,
  hasReports,
  hasSchema,
  hasScratch,
  hasSyncPush,
  hasTransactions,
  hasTurnover,
  hasWakeups,
  type QueueDriver,
} from '../src/index.js';
import { aRecordingDriver } from './fixtures.js';

const guards: Readonly<Record<Ability, (driver: QueueDriver) => boolean>> = {
  reports: hasReports,
  transactions: hasTransactions,
  batches: hasBatches,
  leases: hasLeases,
  batchLeases: hasBatchLeases,
  turnover: hasTurnover,
  wakeups: hasWakeups,
  syncPush: hasSyncPush,
  schema: hasSchema,
  inspection: hasInspection,
  scratch: hasScratch,
  diagnosis: hasDiagnosis,
};
const abilities = Object.keys(ABILITIES) as Ability[];

const withMethods = (methods: readonly string[]): QueueDriver =>
  Object.assign(aRecordingDriver(), Object.fromEntries(methods.map((method) => [method, () => {}])));

describe('a driver of the six methods', () => {
  it('has no ability', () => {
    expect(abilitiesOf(aRecordingDriver())).toEqual([]);
    for (const ability of abilities) expect(guards[ability](aRecordingDriver())).toBe(false);
  });
});

describe.each(abilities)('the ability %s', (ability) => {
  const methods = ABILITIES[ability];

  it('is had by a driver with all of its methods', () => {
    const driver = withMethods(methods);
    expect(abilitiesOf(driver)).toEqual([ability]);
    for (const each of abilities) expect(guards[each](driver)).toBe(each === ability);
  });

  it('is not had by a driver that lacks one of them', () => {
    for (const missing of methods) {
      const driver = withMethods(methods.filter((method) => method !== missing));
      expect(guards[ability](driver)).toBe(false);
      expect(abilitiesOf(driver)).toEqual([]);
    }
  });

  it('is not had by a driver whose methods are none', () => {
    expect(guards[ability](Object.assign(aRecordingDriver(), Object.fromEntries(methods.map((m) => [m, true]))))).toBe(
      false,
    );
  });

  it('is had by a class that inherits its methods', () => {
    class Base {}
    for (const method of methods) Object.defineProperty(Base.prototype, method, { value() {} });
    class Driver extends Base {}
    // The cast: only the guard is asked, and it looks at nothing but these methods.
    expect(guards[ability](new Driver() as unknown as QueueDriver)).toBe(true);
  });
});

describe('the abilities of a driver', () => {
  it('are told in the order of the table', () => {
    const all = Object.values(ABILITIES).flat().reverse();
    expect(abilitiesOf(withMethods(all))).toEqual([
      'reports',
      'transactions',
      'batches',
      'leases',
      'batchLeases',
      'turnover',
      'wakeups',
      'syncPush',
      'schema',
      'inspection',
      'scratch',
      'diagnosis',
    ]);
  });
});
