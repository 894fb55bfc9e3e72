import type { Finding, NewJob, Scratch, ScratchOptions } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { MemoryTransaction } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const otherAbilities: readonly Mutant[] = [
  mutant(
    'sync-push/pushes-before-it-returns',
    'gives a job of a synchronous push the attempts that jobs have by default',
    class extends ReferenceDriver {
      protected override pushNow(job: EncodedJob): number | MemoryTransaction {
        return super.pushNow({ ...job, maxAttempts: 3 });
      }
    },
  ),
  mutant(
    'sync-push/pushes-before-it-returns',
    'gives a promise for a synchronous push',
    class extends ReferenceDriver {
      override pushSync(job: NewJob): number {
        return this.push(job) as unknown as number;
      }
    },
  ),
  mutant(
    'sync-push/unique',
    'does not look for the holder of a key in a synchronous push',
    class extends ReferenceDriver {
      protected override pushNow(job: EncodedJob): number | MemoryTransaction {
        return super.pushNow({ ...job, unique: null });
      }
    },
  ),
  mutant(
    'sync-push/in-the-open-transaction',
    'pushes synchronously on a connection of its own',
    class extends ReferenceDriver {
      protected override pushNow(job: EncodedJob): number | MemoryTransaction {
        return this.insertNow(job, null);
      }
    },
  ),
  mutant(
    'sync-push/throws',
    'gives 0 where a synchronous push should throw',
    class extends ReferenceDriver {
      override pushSync(job: NewJob): number {
        try {
          return super.pushSync(job);
        } catch {
          return 0;
        }
      }
    },
  ),
  mutant(
    'schema/text',
    'has a schema of one table',
    class extends ReferenceDriver {
      override schema(): string {
        return '-- jobs\nCREATE TABLE queue_jobs (…);\n-- q forget --before=YYYY-MM-DD';
      }
    },
  ),
  mutant(
    'scratch/empty-twin',
    'gives a scratch store the time of day, whatever clock it is told to use',
    class extends ReferenceDriver {
      override async scratch(): Promise<Scratch> {
        return super.scratch({ now: () => new Date() });
      }
    },
  ),
  mutant(
    'scratch/empty-twin',
    'gives itself for a scratch store',
    class extends ReferenceDriver {
      override async scratch(): Promise<Scratch> {
        return { driver: this, connect: async () => this, [Symbol.asyncDispose]: async () => {} };
      }
    },
  ),
  mutant(
    'scratch/two-at-once',
    'has one scratch store for all',
    class extends ReferenceDriver {
      #scratch: Promise<Scratch> | null = null;
      override async scratch(options: ScratchOptions = {}): Promise<Scratch> {
        this.#scratch ??= super.scratch(options);
        return this.#scratch;
      }
    },
  ),
  mutant(
    'scratch/second-client',
    'gives a second client of a scratch store a store of its own',
    class extends ReferenceDriver {
      override async scratch(options: ScratchOptions = {}): Promise<Scratch> {
        const scratch = await super.scratch(options);
        return { ...scratch, connect: async () => (await super.scratch(options)).driver };
      }
    },
  ),
  mutant(
    'diagnosis/findings',
    'says what is wrong, and not what to do about it',
    class extends ReferenceDriver {
      override async diagnose(): Promise<Finding[]> {
        return (await super.diagnose()).map(({ level, code, message }) => ({ level, code, message }));
      }
    },
  ),
  mutant(
    'diagnosis/findings',
    'finds nothing worth telling',
    class extends ReferenceDriver {
      override async diagnose(): Promise<Finding[]> {
        return [];
      }
    },
  ),
  mutant(
    'diagnosis/changes-nothing',
    'claims a job to see whether it can',
    class extends ReferenceDriver {
      override async diagnose(): Promise<Finding[]> {
        await this.reserve(['default'], 60, 'doctor');
        return super.diagnose();
      }
    },
  ),
];
