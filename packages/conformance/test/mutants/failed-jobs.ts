import type { Claim, FailedSelection } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { FailedRow, Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

type RetrySelection = { readonly id: number } | 'all';

export const failedJobs: readonly Mutant[] = [
  mutant(
    'retry-failed/starts-over',
    'keeps the priority of a requeued job',
    class extends ReferenceDriver {
      #priority = 0;
      protected override moveToFailed(row: Row, error: string): void {
        this.#priority = row.priority;
        super.moveToFailed(row, error);
      }
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return { ...super.requeued(failed, maxAttempts), priority: this.#priority };
      }
    },
  ),
  mutant(
    'retry-failed/starts-over',
    'keeps the error of a requeued job',
    class extends ReferenceDriver {
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return { ...super.requeued(failed, maxAttempts), lastError: failed.error };
      }
    },
  ),
  mutant(
    'retry-failed/runs',
    'keeps the attempts of a requeued job',
    class extends ReferenceDriver {
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return { ...super.requeued(failed, maxAttempts), attempts: failed.attempts };
      }
    },
  ),
  mutant(
    'retry-failed/runs',
    'remembers of a requeued job that it had been taken over',
    class extends ReferenceDriver {
      readonly #takenOver = new WeakSet<Row>();
      readonly #payloads = new Set<string>();
      protected override claim(row: Row, timeout: number, worker: string): void {
        if (row.reservedUntil !== null) this.#takenOver.add(row);
        super.claim(row, timeout, worker);
      }
      protected override async failOne(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined && this.#takenOver.has(row)) this.#payloads.add(row.payloadJson);
        return super.failOne(claim, error);
      }
      protected override isReclaimed(row: Row): boolean {
        return super.isReclaimed(row) || this.#payloads.has(row.payloadJson);
      }
    },
  ),
  mutant(
    'retry-failed/payload-bytes',
    'decodes a payload and encodes it again when the job is requeued',
    class extends ReferenceDriver {
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return super.requeued({ ...failed, payloadJson: JSON.stringify(JSON.parse(failed.payloadJson)) }, maxAttempts);
      }
    },
  ),
  mutant(
    'retry-failed/one',
    'requeues by id without deleting the failure',
    class extends ReferenceDriver {
      protected override async retry(which: RetrySelection, maxAttempts: number): Promise<number> {
        const kept = which === 'all' ? undefined : this.store.failed.get(which.id);
        const count = await super.retry(which, maxAttempts);
        if (kept !== undefined) this.store.failed.set(kept.id, kept);
        return count;
      }
    },
  ),
  mutant(
    'retry-failed/all-there-when-it-starts',
    'requeues until there is nothing left, chasing its own tail',
    class extends ReferenceDriver {
      protected override async retry(which: RetrySelection, maxAttempts: number): Promise<number> {
        let count = await super.retry(which, maxAttempts);
        while (which === 'all' && this.store.failed.size > 0 && count < 100) {
          count += await super.retry(which, maxAttempts);
        }
        return count;
      }
    },
  ),
  mutant(
    'retry-failed/race',
    'requeues what another client has requeued meanwhile',
    class extends ReferenceDriver {
      protected override async retry(which: RetrySelection, maxAttempts: number): Promise<number> {
        if (which !== 'all') return super.retry(which, maxAttempts);
        const rows = [...this.store.failed.values()];
        await this.roundTrip();
        for (const row of rows) {
          this.store.failed.delete(row.id);
          this.store.add(this.requeued(row, maxAttempts));
        }
        return rows.length;
      }
    },
  ),
  mutant(
    'forget-failed/one',
    'forgets every failure up to the id',
    class extends ReferenceDriver {
      protected override isSelected(row: FailedRow, which: FailedSelection): boolean {
        return which !== 'all' && 'id' in which ? row.id <= which.id : super.isSelected(row, which);
      }
    },
  ),
  mutant(
    'forget-failed/strictly-before',
    'forgets what failed in the very second',
    class extends ReferenceDriver {
      protected override isSelected(row: FailedRow, which: FailedSelection): boolean {
        return which !== 'all' && 'before' in which
          ? row.failedAt * 1000 <= which.before.getTime()
          : super.isSelected(row, which);
      }
    },
  ),
  mutant(
    'forget-failed/strictly-before',
    'cuts the moment to its whole second',
    class extends ReferenceDriver {
      protected override isSelected(row: FailedRow, which: FailedSelection): boolean {
        return which !== 'all' && 'before' in which
          ? row.failedAt < Math.floor(which.before.getTime() / 1000)
          : super.isSelected(row, which);
      }
    },
  ),
  mutant(
    'forget-failed/all',
    'forgets the jobs along with the failures',
    class extends ReferenceDriver {
      protected override async forget(which: FailedSelection): Promise<number> {
        if (which === 'all') this.store.jobs.clear();
        return super.forget(which);
      }
    },
  ),
  mutant(
    'forget-failed/no-selection',
    'forgets all where nothing is selected',
    class extends ReferenceDriver {
      override async forgetFailed(which: FailedSelection): Promise<number> {
        return super.forgetFailed(which ?? 'all');
      }
    },
  ),
  mutant(
    'retry-failed/no-selection',
    'requeues all where no id is given',
    class extends ReferenceDriver {
      override async retryFailed(which: RetrySelection, maxAttempts: number): Promise<number> {
        const isOne = which !== null && typeof which === 'object' && 'id' in which;
        return super.retryFailed(isOne ? which : 'all', maxAttempts);
      }
    },
  ),
];
