import { type Claim, type InTransaction, isQueueError, type NewJob } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import { MemoryTransaction } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

type Within = (driver: InTransaction & { plain: ReferenceDriver }, tx: MemoryTransaction) => Partial<InTransaction>;

/** A driver that does some things within a transaction in a way of its own. */
function inside(change: Within): DriverClass {
  return class extends ReferenceDriver {
    override within(tx: MemoryTransaction): InTransaction {
      const right = super.within(tx);
      return { ...right, ...change({ ...right, plain: this }, tx) };
    }
  };
}

/** The transaction cannot go on: what is written in it from now on is refused. */
function poison(tx: MemoryTransaction): void {
  Object.freeze(tx.notes);
}

export const transactions: readonly Mutant[] = [
  mutant(
    'transactions/push-commits',
    'pushes into the default queue within a transaction',
    class extends ReferenceDriver {
      protected override pushWithin(tx: MemoryTransaction, job: EncodedJob): Promise<number> {
        return super.pushWithin(tx, { ...job, queue: 'default' });
      }
    },
  ),
  mutant(
    'transactions/push-rolls-back',
    'commits the transaction it is given when it has pushed',
    inside((right, tx) => ({
      push: async (job) => {
        const id = await right.push(job);
        tx.commit();
        tx.notes.length = 0;
        tx.inserted.length = 0;
        return id;
      },
    })),
  ),
  mutant(
    'transactions/push-rolls-back',
    'keeps the keys that it has pushed within a transaction',
    class extends ReferenceDriver {
      readonly #keys = new Map<string, number>();
      protected override async pushWithin(tx: MemoryTransaction, job: EncodedJob): Promise<number> {
        const id = await super.pushWithin(tx, job);
        if (job.unique !== null) this.#keys.set(job.unique, id);
        return id;
      }
      protected override async pushOne(job: EncodedJob): Promise<number> {
        return this.#keys.get(job.unique ?? '') ?? super.pushOne(job);
      }
    },
  ),
  mutant(
    'transactions/delay-from-the-push',
    'counts the delay of a push from when its transaction began',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction): InTransaction {
        const begun = this.now();
        return ReferenceDriver.prototype.within.call(new ReferenceDriver(this.store, () => begun), tx);
      }
    },
  ),
  mutant(
    'transactions/invisible-until-commit',
    'counts what others have not committed',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        const uncommitted = [...this.store.open].flatMap(({ inserted }) => inserted);
        return (await super.pending(queue)) + uncommitted.length;
      }
    },
  ),
  mutant(
    'transactions/push-many-commits',
    'pushes a key twice where it is twice in a batch within a transaction',
    class extends ReferenceDriver {
      protected override async pushAllWithin(tx: MemoryTransaction, jobs: readonly EncodedJob[]): Promise<number[]> {
        const keys = jobs.map(({ unique }) => unique);
        const isAgain = (job: EncodedJob, index: number) => keys.indexOf(job.unique) < index;
        const apart = jobs.map((job, index) => (isAgain(job, index) ? { ...job, unique: null } : job));
        return super.pushAllWithin(tx, apart);
      }
    },
  ),
  mutant(
    'transactions/duplicate-key-leaves-it-usable',
    'leaves the transaction unusable after a key that is held, as a failed statement does on Postgres',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const answer = super.insertNow(job, tx);
        if (tx !== null && !tx.inserted.some(({ id }) => id === answer)) poison(tx);
        return answer;
      }
    },
  ),
  mutant(
    'transactions/bad-input-leaves-it-usable',
    'leaves the transaction unusable after a push that was refused',
    inside((right, tx) => ({
      push: async (job) => {
        try {
          return await right.push(job);
        } catch (error) {
          if (isQueueError(error)) poison(tx);
          throw error;
        }
      },
    })),
  ),
  mutant(
    'transactions/delete-commits',
    'keeps the key of a job that was deleted within a transaction',
    class extends ReferenceDriver {
      readonly #keys = new Map<string, number>();
      protected override async deleteWithin(tx: MemoryTransaction, claim: Claim): Promise<boolean> {
        const key = this.store.jobs.get(claim.id)?.unique;
        if (key != null) this.#keys.set(key, claim.id);
        return super.deleteWithin(tx, claim);
      }
      protected override async pushOne(job: EncodedJob): Promise<number> {
        return this.#keys.get(job.unique ?? '') ?? super.pushOne(job);
      }
    },
  ),
  mutant(
    'transactions/delete-rolls-back',
    'deletes on a connection of its own',
    inside(({ plain }) => ({ delete: (claim) => plain.delete(claim) })),
  ),
  mutant(
    'transactions/delete-lost',
    'deletes within a transaction without the fence',
    inside((_, tx) => ({
      delete: async (claim) => {
        tx.deleted.add(claim.id);
        return true;
      },
    })),
  ),
  mutant(
    'transactions/delete-lost',
    'deletes within a transaction a job that was released',
    class extends ReferenceDriver {
      protected override async deleteWithin(tx: MemoryTransaction, claim: Claim): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        const wasReleased = row?.attempts === claim.attempts && row.reservedUntil === null;
        if (wasReleased) tx.deleted.add(claim.id);
        return wasReleased || super.deleteWithin(tx, claim);
      }
    },
  ),
  mutant(
    'transactions/not-a-transaction',
    'opens a transaction of its own where it is given a pool',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction): InTransaction {
        return tx instanceof MemoryTransaction || typeof tx !== 'object' || tx === null ? super.within(tx) : this;
      }
    },
  ),
  mutant(
    'transactions/push-many-rolls-back',
    'pushes a batch within a transaction on its own',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction) {
        return { ...super.within(tx), pushMany: (jobs: readonly NewJob[]) => this.pushMany(jobs) };
      }
    },
  ),
];
