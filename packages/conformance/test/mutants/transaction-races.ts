import type { Claim, NewJob } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { MemoryTransaction } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

export const transactionRaces: readonly Mutant[] = [
  mutant(
    'transaction-races/plain-push-is-apart',
    'pushes a job without a key into whatever transaction is open on the connection it shares',
    class extends ReferenceDriver {
      protected override async pushOne(job: EncodedJob): Promise<number> {
        return job.unique === null ? this.insert(job, [...this.store.open].at(-1) ?? null) : super.pushOne(job);
      }
    },
  ),
  mutant(
    'transaction-races/plain-calls-are-apart',
    'deletes in whatever transaction is open on the connection it shares',
    class extends ReferenceDriver {
      protected override async deleteOne(claim: Claim): Promise<boolean> {
        const [tx] = [...this.store.open];
        return tx === undefined ? super.deleteOne(claim) : this.deleteWithin(tx, claim);
      }
    },
  ),
  mutant(
    'transaction-races/holder-rolls-back',
    'gives the id of a holder that has not committed',
    class extends ReferenceDriver {
      protected override async pushOne(job: EncodedJob): Promise<number> {
        const uncommitted = [...this.store.open].flatMap(({ inserted }) => inserted);
        return this.holderOf(job.unique, uncommitted)?.id ?? super.pushOne(job);
      }
    },
  ),
  mutant(
    'transaction-races/holder-commits',
    'stores a job of its own where the holder of its key has not committed',
    only(
      ['push'],
      class extends ReferenceDriver {
        protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
          const answer = super.insertNow(job, tx);
          if (typeof answer === 'number') return answer;
          const row = this.newRow(job);
          this.store.add(row);
          return row.id;
        }
      },
    ),
  ),
  mutant(
    'transaction-races/two-transactions',
    'sees no keys that another transaction holds',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction) {
        const right = super.within(tx);
        return { ...right, push: async (job: NewJob) => this.#stored(encodeJob(job), tx) };
      }
      #stored(job: EncodedJob, tx: MemoryTransaction): number {
        const answer = this.insertNow(job, tx);
        if (typeof answer === 'number') return answer;
        const row = this.newRow(job);
        tx.inserted.push(row);
        return row.id;
      }
    },
  ),
  mutant(
    'transaction-races/delete-holds-the-job',
    'does not wait for who is deleting a job',
    class extends ReferenceDriver {
      protected override async releaseOne(claim: Claim, delay: number, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return false;
        if (this.store.lockerOf(row.id) === undefined) return super.releaseOne(claim, delay, error);
        this.released(row, delay, error);
        return true;
      }
    },
  ),
];
