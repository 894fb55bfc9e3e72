import type { FailedSelection, ReservedJob } from '@q/core';
import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { FailedRow, Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

/** The mistakes that are easily made, as they are made: most of them are found by many cases. */
export const plainMistakes: readonly Mutant[] = [
  mutant(
    'claims/reserving-is-the-attempt',
    'counts an attempt when the job fails, not when it is claimed',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        if (row.lastError === '') row.attempts = Math.max(1, row.attempts - 1);
      }
    },
  ),
  mutant(
    'claims/deadline-equal-to-now',
    'takes a deadline equal to now for a live claim',
    class extends ReferenceDriver {
      protected override isHeld(row: Row): boolean {
        return row.reservedUntil !== null && row.reservedUntil >= this.seconds();
      }
    },
  ),
  mutant(
    'claims/max-attempts-is-the-workers',
    'does not hand out an expired claim whose attempts are used up',
    class extends ReferenceDriver {
      protected override candidates(queue: string): Row[] {
        return super.candidates(queue).filter((row) => row.reservedUntil === null || row.attempts < row.maxAttempts);
      }
    },
  ),
  mutant(
    'claims/reclaimed',
    'never says that a job was taken over',
    class extends ReferenceDriver {
      protected override isReclaimed(): boolean {
        return false;
      }
    },
  ),
  mutant(
    'races/each-job-once',
    'claims without a guard',
    class extends ReferenceDriver {
      protected override isStillFree(): boolean {
        return true;
      }
    },
  ),
  mutant(
    'reserve-order/priority',
    'takes the lowest id before the highest priority',
    class extends ReferenceDriver {
      protected override order(a: Row, b: Row): number {
        return a.id - b.id;
      }
    },
  ),
  mutant(
    'reserve-order/earliest-due',
    'takes the lowest id before the earliest due',
    class extends ReferenceDriver {
      protected override order(a: Row, b: Row): number {
        return b.priority - a.priority || a.id - b.id;
      }
    },
  ),
  mutant(
    'reserve-many/ends-before-a-reclaimed-job',
    'takes a job over beside others',
    class extends ReferenceDriver {
      protected override mayFollow(): boolean {
        return true;
      }
      protected override mayBeFollowed(_: ReservedJob): boolean {
        return true;
      }
    },
  ),
  ...(['delete', 'release', 'fail', 'extend'] as const).map((method) =>
    mutant(
      `fences/${method}-after-takeover`,
      `has no fence when it is told to ${method}`,
      only(
        [method],
        class extends ReferenceDriver {
          protected override isClaimOf(): boolean {
            return true;
          }
        },
      ),
    ),
  ),
  mutant(
    'release/back-after-its-delay',
    'makes every released job due at once',
    class extends ReferenceDriver {
      protected override released(row: Row, _delay: number, error: string): void {
        super.released(row, 0, error);
      }
    },
  ),
  mutant(
    'release/ends-the-claim',
    'keeps the claim of a released job until its deadline',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        const { reservedUntil } = row;
        super.released(row, delay, error);
        row.reservedUntil = reservedUntil;
      }
    },
  ),
  mutant(
    'release/keeps-attempts',
    'starts to count attempts anew when a job is released',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        row.attempts = 0;
      }
    },
  ),
  mutant(
    'finish/failed-is-not-run-again',
    'copies a failed job and leaves it where it was, for its claim to expire',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(row, error);
        this.store.jobs.set(row.id, row);
      }
    },
  ),
  mutant(
    'finish/failed-moves',
    'forgets the attempts of a failed job',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed({ ...row, attempts: 0 }, error);
      }
    },
  ),
  mutant(
    'payloads/byte-for-byte',
    'decodes a payload and encodes it again when the job fails',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed({ ...row, payloadJson: encodedAgain(row.payloadJson) }, error);
      }
    },
  ),
  mutant(
    'unique/race',
    'looks for the holder of a key, and throws when the insert finds one after all',
    class extends ReferenceDriver {
      protected override async pushOne(job: EncodedJob): Promise<number> {
        const holder = this.holderOf(job.unique, this.store.jobs.values());
        if (holder !== undefined) return holder.id;
        await this.roundTrip();
        if (this.holderOf(job.unique, this.store.jobs.values()) !== undefined) throw new Error('duplicate key');
        return this.insert(job, null);
      }
    },
  ),
  mutant(
    'pending/not-held',
    'counts held jobs as pending',
    class extends ReferenceDriver {
      protected override isPending(row: Row): boolean {
        return this.isDue(row);
      }
    },
  ),
  mutant(
    'pending/by-queue',
    'counts all queues whichever is named',
    class extends ReferenceDriver {
      protected override count(): Promise<number> {
        return super.count(null);
      }
    },
  ),
  mutant(
    'retry-failed/starts-over',
    'keeps everything of a requeued job',
    class extends ReferenceDriver {
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return { ...super.requeued(failed, maxAttempts), attempts: failed.attempts, lastError: failed.error };
      }
    },
  ),
  mutant(
    'forget-failed/all',
    'forgets nothing where it is told to forget all',
    class extends ReferenceDriver {
      protected override isSelected(row: FailedRow, which: FailedSelection): boolean {
        return which !== 'all' && super.isSelected(row, which);
      }
    },
  ),
];

function encodedAgain(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
