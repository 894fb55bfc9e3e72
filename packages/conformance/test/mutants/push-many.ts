import { isQueueError, type NewJob, QueueError } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import { type Mutant, mutant } from './mutant.js';

export const pushMany: readonly Mutant[] = [
  mutant(
    'push-many/ids-in-order',
    'gives the ids of a batch in the order of its queues',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        return super.pushMany([...jobs].sort((a, b) => (a.queue < b.queue ? -1 : 1)));
      }
    },
  ),
  mutant(
    'push-many/empty',
    'throws for a batch of no jobs',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        if (jobs.length === 0) throw new Error('syntax error at or near ")"');
        return super.pushMany(jobs);
      }
    },
  ),
  mutant(
    'push-many/all-or-nothing',
    'stores a batch up to the bad job',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        const ids = [];
        for (const [index, job] of jobs.entries())
          ids.push(await this.push(job).catch((error) => refuseAt(index, error)));
        return ids;
      }
    },
  ),
  mutant(
    'push-many/all-or-nothing',
    'does not say which job of a batch is bad',
    class extends ReferenceDriver {
      protected override encodeMany(jobs: readonly NewJob[]): EncodedJob[] {
        return jobs.map((job) => this.encode(job));
      }
    },
  ),
  mutant(
    'push-many/inner-duplicates',
    'drops the id of a key that is twice in a batch',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        return [...new Set(await super.pushMany(jobs))];
      }
    },
  ),
  mutant(
    'push-many/keys-held-already',
    'refuses a batch that holds a key that is held',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        const rows = [...this.store.jobs.values()];
        if (jobs.some((job) => this.holderOf(job.unique, rows))) throw new Error('duplicate key');
        return super.pushMany(jobs);
      }
    },
  ),
  mutant(
    'push-many/any-size',
    'has no more than 65,535 placeholders',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        if (jobs.length * 10 > 65_535) throw new Error('too many placeholders');
        return super.pushMany(jobs);
      }
    },
  ),
  mutant(
    'push-many/large-is-all-or-nothing',
    'checks and stores a large batch chunk by chunk',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        const ids = [];
        for (let start = 0; start < jobs.length; start += 1_000) {
          const chunk = jobs.slice(start, start + 1_000);
          ids.push(...(await super.pushMany(chunk).catch((error) => refuseAt(jobs.length - 1, error))));
        }
        return ids;
      }
    },
  ),
  mutant(
    'push-many/race',
    'looks for the holders of a batch’s keys and stores it a round trip later',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        const holders = this.encodeMany(jobs).map((job) => this.holderOf(job.unique, [...this.store.jobs.values()]));
        await this.roundTrip();
        return this.encodeMany(jobs).map((job, index) => holders[index]?.id ?? this.#stored(job));
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
function refuseAt(index: number, error: unknown): never {
  throw isQueueError(error) ? new QueueError(error.code, `jobs[${index}]: ${error.message}`) : error;
}
