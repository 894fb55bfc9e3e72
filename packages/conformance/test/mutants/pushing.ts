import type { NewJob, ReservedJob } from '@q/core';
import { type ClaimRequest, type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import { type DriverClass, referenceHarness } from '../reference-harness.js';
import type { MemoryStore, Row } from '../reference-store.js';
import { encoding, type Mutant, mutant, only, refuse } from './mutant.js';

export const pushing: readonly Mutant[] = [
  {
    what: 'has an ability that its harness does not promise',
    caughtBy: 'abilities/exactly-those-promised',
    harness: { ...referenceHarness(), abilities: referenceHarness().abilities.filter((one) => one !== 'leases') },
  },
  mutant(
    'abilities/exactly-those-promised',
    'has no release',
    class extends ReferenceDriver {
      override readonly release = undefined as never;
    },
  ),
  mutant(
    'abilities/exactly-those-promised',
    'has half the methods of an ability',
    class extends ReferenceDriver {
      override readonly failedCount = undefined as never;
    },
  ),
  {
    what: 'has a harness that lists a back door as lacking which it has',
    caughtBy: 'abilities/back-doors',
    harness: { ...referenceHarness(), lacks: ['jobRows'] },
  },
  { what: 'has a harness without a back door', caughtBy: 'abilities/back-doors', harness: withoutDoor() },
  mutant(
    'abilities/fresh-store-is-empty',
    'cannot reserve before the first job was stored',
    class extends ReferenceDriver {
      #isUsed = false;
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        this.#isUsed ||= this.store.jobs.size + this.store.failed.size > 0;
        if (!this.#isUsed) throw new Error('NOGROUP No such key');
        return super.take(request);
      }
    },
  ),
  mutant(
    'push/resolves-to-the-id',
    'gives the number of its own pushes for an id beside another client',
    countingIds(),
  ),
  mutant(
    'push/comes-back-as-pushed',
    'gives every job the number of attempts of the first one of its name',
    class extends ReferenceDriver {
      readonly #first = new Map<string, number>();
      protected override pushOne(job: EncodedJob): Promise<number> {
        const maxAttempts = this.#first.get(job.name) ?? job.maxAttempts;
        this.#first.set(job.name, maxAttempts);
        return super.pushOne({ ...job, maxAttempts });
      }
    },
  ),
  mutant(
    'push/writes-every-column',
    'writes created_at as it is when the row is written, a tenth of a second later',
    only(
      ['push'],
      class extends ReferenceDriver {
        protected override newRow(job: EncodedJob): Row {
          return { ...super.newRow(job), createdAt: Math.floor((this.now().getTime() + 100) / 1000) };
        }
      },
    ),
  ),
  mutant(
    'push/any-name',
    'looks names up among the properties of an object',
    encoding((job) => (job.name in {} ? refuse('invalid_text', 'no such name') : encodeJob(job))),
  ),
  mutant(
    'push/leaves-the-callers-job-alone',
    'writes the floor of a number into the job it was given',
    encoding((job) =>
      encodeJob(Number.isSafeInteger(job.delay) && job.delay < 0 ? Object.assign(job, { delay: 0 }) : job),
    ),
  ),
  mutant(
    'push/same-job-twice',
    'stores the very same object once',
    class extends ReferenceDriver {
      readonly #ids = new WeakMap<NewJob, number>();
      override async push(job: NewJob): Promise<number> {
        const id = this.#ids.get(job) ?? (await super.push(job));
        this.#ids.set(job, id);
        return id;
      }
    },
  ),
  mutant(
    'plain-values/job',
    'takes nothing for a job of defaults',
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        const defaults = { name: 'a', queue: 'a', payload: {}, delay: 0, priority: 0, unique: null, maxAttempts: 1 };
        return super.encode(job ?? defaults);
      }
    },
  ),
  mutant(
    'plain-values/rejects',
    'throws where it should reject',
    class extends ReferenceDriver {
      override push(job: NewJob): Promise<number> {
        return this.pushOne(this.encode(job));
      }
    },
  ),
];

/** Ids as a driver gives them that counts what it has pushed itself: right, as long as it is alone. */
function countingIds(): DriverClass {
  const pushers = new WeakMap<MemoryStore, Set<ReferenceDriver>>();
  return class extends ReferenceDriver {
    #count = 0;
    protected override async pushOne(job: EncodedJob): Promise<number> {
      const id = await super.pushOne(job);
      if (job.unique !== null) return id;
      this.#count += 1;
      const all = pushers.get(this.store) ?? new Set();
      pushers.set(this.store, all.add(this));
      return all.size > 1 ? this.#count : id;
    }
  };
}

function withoutDoor() {
  const harness = referenceHarness();
  return {
    ...harness,
    open: async (options: Parameters<typeof harness.open>[0]) => {
      const { jobRows: _, ...store } = await harness.open(options);
      return store;
    },
  };
}
