import type { Claim, NewJob } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { careless, encoding, type Mutant, mutant, only, refuse } from './mutant.js';

type Role = 'queue' | 'name' | 'unique';

const LIMITS = { queue: 64, name: 190, unique: 190 } as const;

/** A driver that lets a text through although it shows a fault. */
function lets(role: Role, through: (text: string, limit: number) => boolean): DriverClass {
  return encoding((job) => {
    const text = job[role];
    if (typeof text !== 'string' || !through(text, LIMITS[role])) return encodeJob(job);
    return { ...encodeJob({ ...job, [role]: 'ok' }), [role]: text };
  });
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
    encoding((job) => ((job[role]?.length ?? 0) > LIMITS[role] ? refuse('invalid_text', 'too long') : encodeJob(job))),
  ),
  mutant(
    `plain-values/${role}`,
    `makes text of a ${role} that is none`,
    encoding((job) => {
      const text: unknown = job[role];
      return encodeJob(typeof text === 'string' || text == null ? job : { ...job, [role]: 'made-up' });
    }),
  ),
]);

const numberMutants = (['delay', 'priority', 'maxAttempts'] as const).map((field) =>
  mutant(
    `numbers/${field === 'maxAttempts' ? 'max-attempts' : field}-not-whole`,
    `makes a whole number of a ${field} that is none`,
    encoding((job) => encodeJob({ ...job, [field]: careless(job[field]) })),
  ),
);

export const limits: readonly Mutant[] = [
  ...textMutants,
  ...(['queue', 'name'] as const).map((role) =>
    mutant(
      `limits/${role}-empty`,
      `takes a ${role} without a character`,
      lets(role, (text) => text === ''),
    ),
  ),
  ...numberMutants,
  mutant(
    'numbers/delay-floor',
    'refuses to release with a delay below 0',
    class extends ReferenceDriver {
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        return delay < 0 && Number.isSafeInteger(delay)
          ? refuse('invalid_number', 'below 0')
          : super.release(claim, delay, error);
      }
    },
  ),
  mutant(
    'numbers/delay-floor-stored',
    'makes a job with a delay below 0 due in the past',
    class extends ReferenceDriver {
      protected override encode(job: NewJob): EncodedJob {
        const encoded = super.encode(job);
        return { ...encoded, delay: job.delay };
      }
      protected override newRow(job: EncodedJob): Row {
        const row = super.newRow(job);
        return job.delay < 0 ? { ...row, availableAt: this.seconds() + Math.max(job.delay, -86_400) } : row;
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
    only(
      ['push'],
      class extends ReferenceDriver {
        protected override after(seconds: number): number {
          return seconds > 2 ** 40 ? this.seconds() % 2 ** 31 : super.after(seconds);
        }
      },
    ),
  ),
  mutant(
    'numbers/largest-priority',
    'cuts priorities to their lower 32 bits',
    encoding((job) => ({ ...encodeJob(job), priority: job.priority | 0 })),
  ),
  mutant(
    'numbers/largest-max-attempts',
    'keeps maxAttempts in 16 bits',
    encoding((job) => {
      const encoded = encodeJob(job);
      return { ...encoded, maxAttempts: encoded.maxAttempts & 0x7fff };
    }),
  ),
];
