import type { NewJob } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import { type DriverClass, referenceHarness } from '../reference-harness.js';
import { MemoryStore, type MemoryTransaction, type Row } from '../reference-store.js';
import { careless, encoding, type Mutant, mutant, refuse } from './mutant.js';

type Role = 'queue' | 'name' | 'unique';

const LIMITS = { queue: 64, name: 190, unique: 190 } as const;

/** A driver that lets a text through although it shows a fault. */
function lets(role: Role, through: (text: string, limit: number) => boolean): DriverClass {
  return class extends ReferenceDriver {
    protected override encode(job: NewJob): EncodedJob {
      const text = job[role];
      if (typeof text !== 'string' || !through(text, LIMITS[role])) return super.encode(job);
      return { ...super.encode({ ...job, [role]: 'ok' }), [role]: text };
    }
  };
}

const FAULTS: readonly (readonly [string, string, (text: string, limit: number) => boolean])[] = [
  ['too-long', 'does not check the length of', (text, limit) => [...text].length > limit],
  ['control-character', 'lets control characters into', (text) => /\p{Cc}/u.test(text)],
  ['lone-surrogate', 'lets half a surrogate pair into', (text) => /\p{Surrogate}/u.test(text)],
  ['outer-space', 'takes white space around', (text) => text.trim() !== text],
];

const textMutants = (['queue', 'name', 'unique'] as const).flatMap((role): Mutant[] => [
  ...FAULTS.map(([id, what, through]) => mutant(`limits/${role}-${id}`, `${what} a ${role}`, lets(role, through))),
  mutant(
    `limits/${role}-longest`,
    `counts the characters of a ${role} in UTF-16 units`,
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        if ((job[role]?.length ?? 0) > LIMITS[role]) refuse('invalid_text', 'too long');
        return super.encode(job);
      }
    },
  ),
  mutant(
    `plain-values/${role}`,
    `makes text of a ${role} that is none`,
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        const text: unknown = job[role];
        return super.encode(typeof text === 'string' || text == null ? job : { ...job, [role]: 'made-up' });
      }
    },
  ),
]);

const numberMutants = (['delay', 'priority', 'maxAttempts'] as const).map((field) =>
  mutant(
    `numbers/${field === 'maxAttempts' ? 'max-attempts' : field}-not-whole`,
    `makes a whole number of a ${field} that is none`,
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        return super.encode({ ...job, [field]: careless(job[field]) });
      }
    },
  ),
);

export const pushing: readonly Mutant[] = [
  {
    what: 'has half the methods of an ability',
    caughtBy: 'abilities/exactly-those-promised',
    harness: referenceHarness(
      class extends ReferenceDriver {
        override readonly failedCount = undefined as never;
      },
    ),
  },
  {
    what: 'has a harness without a back door',
    caughtBy: 'abilities/back-doors',
    harness: withoutDoor(),
  },
  mutant(
    'abilities/six-methods',
    'has no release',
    class extends ReferenceDriver {
      override readonly release = undefined as never;
    },
  ),
  {
    what: 'has a harness that opens the store of the case before',
    caughtBy: 'abilities/fresh-store-is-empty',
    harness: usedStore(),
  },
  mutant(
    'push/resolves-to-the-id',
    'gives the number of jobs for an id',
    class extends ReferenceDriver {
      override async push(job: NewJob): Promise<number> {
        await super.push(job);
        return this.store.jobs.size - 1;
      }
    },
  ),
  mutant(
    'push/comes-back-as-pushed',
    'gives every job the same number of attempts',
    encoding((job) => ({ ...encodeJob(job), maxAttempts: 3 })),
  ),
  mutant(
    'push/writes-every-column',
    'rounds created_at up',
    class extends ReferenceDriver {
      protected override newRow(job: EncodedJob): Row {
        return { ...super.newRow(job), createdAt: Math.ceil(this.now().getTime() / 1000) };
      }
    },
  ),
  mutant(
    'push/any-name',
    'looks names up among the properties of an object',
    encoding((job) => (job.name in {} ? refuse('invalid_text', 'no such name') : encodeJob(job))),
  ),
  mutant(
    'push/leaves-the-callers-job-alone',
    'writes the floor of a number into the job it was given',
    encoding((job) => encodeJob(Object.assign(job, { delay: Math.max(0, job.delay) }))),
  ),
  mutant(
    'push/same-job-twice',
    'takes equal payloads for the same job',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const same = [...this.store.jobs.values()].find(({ payloadJson }) => payloadJson === job.payloadJson);
        return same?.id ?? super.insertNow(job, tx);
      }
    },
  ),
  ...textMutants,
  ...(['queue', 'name'] as const).map((role) =>
    mutant(
      `limits/${role}-empty`,
      `takes a ${role} without a character`,
      lets(role, (text) => text === ''),
    ),
  ),
  mutant(
    'plain-values/job',
    'takes nothing for a job of defaults',
    encoding((job) =>
      encodeJob(job ?? { name: 'a', queue: 'a', payload: {}, delay: 0, priority: 0, unique: null, maxAttempts: 1 }),
    ),
  ),
  mutant(
    'plain-values/rejects',
    'throws where it should reject',
    class extends ReferenceDriver {
      override push(job: NewJob): Promise<number> {
        this.encode(job);
        return super.push(job);
      }
    },
  ),
  ...numberMutants,
  mutant(
    'numbers/delay-floor',
    'refuses a delay below 0',
    encoding((job) => (job.delay < 0 ? refuse('invalid_number', 'below 0') : encodeJob(job))),
  ),
  mutant(
    'numbers/delay-floor-stored',
    'makes a job with a delay below 0 due in the past',
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        return { ...super.encode(job), delay: job.delay };
      }
      protected override after(seconds: number): number {
        return seconds < 0 ? this.seconds() + seconds : super.after(seconds);
      }
    },
  ),
  mutant(
    'numbers/max-attempts-floor',
    'stores a maxAttempts below 1',
    encoding((job) => ({ ...encodeJob(job), maxAttempts: job.maxAttempts })),
  ),
  mutant(
    'numbers/largest-delay',
    'counts due times in 32 bits',
    class extends ReferenceDriver {
      protected override after(seconds: number): number {
        return seconds > 2 ** 40 ? this.seconds() % 2 ** 31 : super.after(seconds);
      }
    },
  ),
  mutant(
    'numbers/largest-priority',
    'cuts priorities to their lower 32 bits',
    encoding((job) => ({ ...encodeJob(job), priority: job.priority | 0 })),
  ),
  mutant(
    'numbers/largest-max-attempts',
    'keeps maxAttempts in 16 bits',
    encoding((job) => ({ ...encodeJob(job), maxAttempts: encodeJob(job).maxAttempts & 0x7fff })),
  ),
];

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

function usedStore() {
  const store = new MemoryStore();
  const harness = referenceHarness(
    class extends ReferenceDriver {
      constructor(_: MemoryStore, now: () => Date) {
        super(store, now);
      }
    },
  );
  return {
    ...harness,
    open: async (options: Parameters<typeof harness.open>[0]) => {
      const opened = await harness.open(options);
      await opened.driver.push({
        name: 'a',
        queue: 'a',
        payload: {},
        delay: 0,
        priority: 0,
        unique: null,
        maxAttempts: 1,
      });
      return opened;
    },
  };
}
