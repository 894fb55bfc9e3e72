import { isQueueError, type NewJob, QueueError } from '@q/core';
import { type EncodedJob, encodeJob, encodeJobs } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import { type Mutant, mutant, only } from './mutant.js';

export const pushMany: readonly Mutant[] = [
  mutant(
    'push-many/ids-in-order',
    'gives the ids of a batch in the order of its queues',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        return super.pushAll([...jobs].sort((a, b) => (a.queue < b.queue ? -1 : 1)));
      }
    },
  ),
  mutant(
    'push-many/ids-in-order',
    'rounds the delays of a batch down',
    only(
      ['pushMany'],
      class extends ReferenceDriver {
        protected override after(seconds: number): number {
          return this.seconds() + Math.max(0, seconds);
        }
      },
    ),
  ),
  mutant(
    'push-many/empty',
    'throws for a batch of no jobs',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        if (jobs.length === 0) throw new Error('syntax error at or near ")"');
        return super.pushAll(jobs);
      }
    },
  ),
  mutant(
    'push-many/all-or-nothing',
    'encodes the payloads of a small batch one by one as it stores them',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        if (!Array.isArray(jobs) || jobs.length > 1_000) return super.pushMany(jobs);
        encodeJobs(jobs.map((job) => (job instanceof Object ? { ...job, payload: {} } : job)));
        const ids = [];
        for (const [index, job] of jobs.entries()) {
          ids.push(await this.push(job).catch((error) => refuseAt(index, error)));
        }
        return ids;
      }
    },
  ),
  mutant(
    'push-many/all-or-nothing',
    'does not say which job of a batch is bad',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        return Array.isArray(jobs) ? this.pushAll(jobs.map((job) => encodeJob(job))) : super.pushMany(jobs);
      }
    },
  ),
  mutant(
    'push-many/inner-duplicates',
    'drops the id of a key that is twice in a batch',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        const ids = await super.pushAll(jobs);
        return jobs.length > 1_000 ? ids : [...new Set(ids)];
      }
    },
  ),
  mutant(
    'push-many/keys-held-already',
    'refuses a batch that holds a key that is held',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        const isHeld = (job: EncodedJob) => this.holderOf(job.unique, this.store.jobs.values()) !== undefined;
        if (jobs.some(isHeld)) throw new Error('duplicate key');
        return super.pushAll(jobs);
      }
    },
  ),
  mutant(
    'push-many/any-size',
    'has no more than 65,535 placeholders',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        if (jobs.length * 10 > 65_535) throw new Error('too many placeholders');
        return super.pushAll(jobs);
      }
    },
  ),
  mutant(
    'push-many/large-is-all-or-nothing',
    'checks and stores a large batch chunk by chunk',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        if (!Array.isArray(jobs)) return super.pushMany(jobs);
        const ids = [];
        for (let start = 0; start < jobs.length; start += 1_000) {
          const chunk = jobs.slice(start, start + 1_000);
          ids.push(...(await super.pushMany(chunk).catch((error) => refuseAt(jobs.length - 1, error, start > 0))));
        }
        return ids;
      }
    },
  ),
  mutant(
    'push-many/race',
    'looks for the holders of a batch’s keys and stores it a round trip later',
    class extends ReferenceDriver {
      protected override async pushAll(jobs: readonly EncodedJob[]): Promise<number[]> {
        if (jobs.length > 1_000) return super.pushAll(jobs);
        const holders = jobs.map((job) => this.holderOf(job.unique, this.store.jobs.values())?.id);
        await this.roundTrip();
        const own = new Map<string | null, number>();
        return jobs.map((job, index) => {
          const id = holders[index] ?? own.get(job.unique) ?? this.#stored(job);
          if (job.unique !== null) own.set(job.unique, id);
          return id;
        });
      }
      #stored(job: EncodedJob): number {
        const row = this.newRow(job);
        this.store.add(row);
        return row.id;
      }
    },
  ),
];

/** The right refusal, too late: what came before the bad job is stored. */
function refuseAt(index: number, error: unknown, isNamed = true): never {
  throw isQueueError(error) && isNamed ? new QueueError(error.code, `jobs[${index}]: ${error.message}`) : error;
}
