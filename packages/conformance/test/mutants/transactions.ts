import { type InTransaction, isQueueError, type NewJob } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import { MemoryTransaction, type Row } from '../reference-store.js';
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
    'gives an id for a push within a transaction, and forgets it',
    inside(() => ({ push: async () => 1 })),
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
    'pushes on a connection of its own',
    inside(({ plain }) => ({ push: (job) => plain.push(job) })),
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
    inside((_, tx) => ({
      pushMany: async (jobs) =>
        jobs.map((job, index) => {
          const row = { ...emptyRow(job), id: 1_000 + index };
          tx.inserted.push(row);
          return row.id;
        }),
    })),
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
    'deletes within a transaction without keeping it',
    inside(() => ({ delete: async () => true })),
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

function emptyRow(job: NewJob): Row {
  return {
    id: 0,
    queue: job.queue,
    name: job.name,
    payloadJson: JSON.stringify(job.payload),
    attempts: 0,
    maxAttempts: job.maxAttempts,
    priority: job.priority,
    unique: job.unique,
    availableAt: 0,
    reservedUntil: null,
    reservedBy: null,
    lastError: '',
    createdAt: 0,
  };
}
