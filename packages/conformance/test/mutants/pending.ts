import type { NewJob } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

/** Counts a row on its own, whether it is pending and of a queue. */
class Counting extends ReferenceDriver {
  protected rowsOf(queue: string | null, is: (row: Row) => boolean): number {
    return [...this.store.jobs.values()].filter((row) => (queue === null || row.queue === queue) && is(row)).length;
  }
}

export const pending: readonly Mutant[] = [
  mutant(
    'pending/due-jobs',
    'counts no more than one job where it has never pushed any itself',
    class extends ReferenceDriver {
      #hasPushed = false;
      override push(job: NewJob): Promise<number> {
        this.#hasPushed = true;
        return super.push(job);
      }
      override pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        this.#hasPushed = true;
        return super.pushMany(jobs);
      }
      protected override async count(queue: string | null): Promise<number> {
        const count = await super.count(queue);
        return this.#hasPushed ? count : Math.min(count, 1);
      }
    },
  ),
  mutant(
    'pending/not-delayed',
    'counts one of the jobs that become due in the same second',
    class extends Counting {
      protected override async count(queue: string | null): Promise<number> {
        const now = this.seconds();
        const isJustDue = (row: Row): boolean => row.availableAt === now && row.createdAt < now && this.isPending(row);
        const justDue = this.rowsOf(queue, isJustDue);
        return (await super.count(queue)) - Math.max(0, justDue - 1);
      }
    },
  ),
  mutant(
    'pending/not-delayed',
    'counts delayed jobs as pending',
    class extends Counting {
      protected override async count(queue: string | null): Promise<number> {
        return (await super.count(queue)) + this.rowsOf(queue, (row) => !this.isDue(row));
      }
    },
  ),
  mutant(
    'pending/not-held',
    'counts a held job along with others that are due',
    class extends Counting {
      protected override async count(queue: string | null): Promise<number> {
        const count = await super.count(queue);
        const held = this.rowsOf(queue, (row) => this.isHeld(row));
        return count > 0 && held === 1 ? count + 1 : count;
      }
    },
  ),
  mutant(
    'pending/expired',
    'counts expired claims as held',
    class extends Counting {
      protected override async count(queue: string | null): Promise<number> {
        const expired = this.rowsOf(queue, (row) => this.isPending(row) && row.reservedUntil !== null);
        return (await super.count(queue)) - expired;
      }
    },
  ),
  mutant(
    'pending/by-queue',
    'counts no more than one job of a queue that is named',
    class extends ReferenceDriver {
      protected override async count(queue: string | null): Promise<number> {
        const count = await super.count(queue);
        return queue === null ? count : Math.min(count, 1);
      }
    },
  ),
];
