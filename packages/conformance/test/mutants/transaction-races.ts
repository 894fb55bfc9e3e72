import type { Claim, NewJob } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { MemoryTransaction } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const transactionRaces: readonly Mutant[] = [
  mutant(
    'transaction-races/plain-push-is-apart',
    'pushes into whatever transaction is open on the connection it shares',
    class extends ReferenceDriver {
      override async push(job: NewJob): Promise<number> {
        return this.insert(this.encode(job), [...this.store.open].at(-1) ?? null);
      }
    },
  ),
  mutant(
    'transaction-races/plain-calls-are-apart',
    'deletes in whatever transaction is open on the connection it shares',
    class extends ReferenceDriver {
      override async delete(claim: Claim): Promise<boolean> {
        const [tx] = [...this.store.open];
        if (tx === undefined) return super.delete(claim);
        tx.deleted.add(claim.id);
        return true;
      }
    },
  ),
  mutant(
    'transaction-races/holder-rolls-back',
    'gives the id of a holder that has not committed',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const uncommitted = [...this.store.open].flatMap(({ inserted }) => inserted);
        return this.holderOf(job.unique, uncommitted)?.id ?? super.insertNow(job, tx);
      }
    },
  ),
  mutant(
    'transaction-races/holder-commits',
    'stores a job of its own where the holder of its key has not committed',
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
  mutant(
    'transaction-races/two-transactions',
    'sees no keys that another transaction holds',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const answer = super.insertNow(job, tx);
        if (typeof answer === 'number' || tx === null) return answer;
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
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return super.release(claim, delay, error);
        this.released(row, delay, error);
        return true;
      }
    },
  ),
];
