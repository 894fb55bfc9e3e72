import { CASES, Clock, type ConformanceCase, runCase, whySkipped } from '../src/index.js';
import type { Mutant } from './mutants/mutant.js';
import { ReferenceDriver } from './reference-driver.js';
import { type DriverClass, referenceHarness } from './reference-harness.js';

interface Failed {
  readonly one: ConformanceCase;
  readonly message: string;
}

/** What works on thousands of jobs. */
const HEAVY: readonly string[] = [
  'payloads/depth-limit',
  'push-many/any-size',
  'push-many/large-is-all-or-nothing',
  'delete-many/any-size',
  'turnover/any-size',
  'transactions/push-many-rolls-back',
];

/** The names of what each case uses of the reference driver. */
type Uses = ReadonlyMap<string, ReadonlySet<PropertyKey>>;

/**
 * Which cases fail on which mutants. A case is tried on a mutant only where it uses something that the mutant has changed:
 * what it does with any other is what it does with the reference driver, on which every case passes.
 */
export class KillMatrix {
  readonly #uses: Uses;

  private constructor(uses: Uses) {
    this.#uses = uses;
  }

  static async open(): Promise<KillMatrix> {
    const uses = new Map<string, ReadonlySet<PropertyKey>>();
    for (const one of CASES) uses.set(one.id, await usesOf(one));
    return new KillMatrix(uses);
  }

  /** The ids of the cases that fail on a mutant. */
  async killersOf({ harness }: Mutant): Promise<string[]> {
    const changed = await changedBy(harness);
    const tried = CASES.filter((one) => this.#isAffected(one, changed) && whySkipped(harness, one) === null);
    const failed: Failed[] = [];
    const judge = async (one: ConformanceCase): Promise<void> => {
      const message = await failureOf(harness, one);
      if (message !== null) failed.push({ one, message });
    };
    // All at once, each has a store and a clock of its own; but what takes long has a limit in real time.
    await Promise.all(tried.filter((one) => !isHeavy(one)).map(judge));
    for (const one of tried.filter(isHeavy)) await judge(one);
    // On a busy machine a case may be late because of the others: that is no kill, unless it is late alone.
    const late = failed.filter(({ message }) => message.includes('it did not settle within'));
    const killers = failed.filter((one) => !late.includes(one)).map(({ one }) => one.id);
    for (const { one } of late) if ((await failureOf(harness, one)) !== null) killers.push(one.id);
    return killers;
  }

  #isAffected({ id }: ConformanceCase, changed: readonly PropertyKey[]): boolean {
    // A mutant that changes nothing of the driver has another harness: whatever uses that may fail.
    return changed.length === 0 || changed.some((name) => this.#uses.get(id)?.has(name));
  }
}

function isHeavy({ id }: ConformanceCase): boolean {
  return HEAVY.includes(id);
}

/** What a case uses of the driver, its own calls of itself included, as seen while the case runs. */
async function usesOf(one: ConformanceCase): Promise<Set<PropertyKey>> {
  const used = new Set<PropertyKey>();
  const seen = <T extends object>(driver: T): T =>
    new Proxy(driver, {
      get: (target, name, receiver) => Reflect.get(target, used.add(name) && name, receiver),
    });
  const Seen: DriverClass = new Proxy(ReferenceDriver, {
    construct: (Class, [store, now]) => seen(new Class(store, now)),
  });
  await runCase(referenceHarness(Seen), one);
  return used;
}

/** The names of what a mutant has changed of the reference driver. */
async function changedBy(harness: Mutant['harness']): Promise<PropertyKey[]> {
  const { driver, close } = await harness.open({ now: new Clock().now });
  await close();
  const names: PropertyKey[] = Object.keys(Object.getOwnPropertyDescriptors(driver));
  for (
    let layer = Object.getPrototypeOf(driver);
    layer !== ReferenceDriver.prototype;
    layer = Object.getPrototypeOf(layer)
  ) {
    names.push(...Object.getOwnPropertyNames(layer));
  }
  return names.filter((name) => !['constructor', 'store', 'now'].includes(String(name)));
}

/** What a failure says; null where there is none. */
async function failureOf(harness: Mutant['harness'], one: ConformanceCase): Promise<string | null> {
  try {
    await runCase(harness, one);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
