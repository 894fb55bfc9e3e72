import type { Claim, ReservedJob } from '@q/core';
import { type ClaimRequest, trimErrorText } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

const TRUNCATED = '\n... truncated';

/** A driver that makes of an error, when it is told to `method`, what it likes. */
function storing(method: 'release' | 'fail', stored: (error: string) => string): DriverClass {
  return only(
    [method],
    class extends ReferenceDriver {
      protected override trimError(error: string): string {
        return typeof error === 'string' ? stored(error) : super.trimError(error);
      }
    },
  );
}

const errorMutants = (['release', 'fail'] as const).flatMap((method) => [
  mutant(
    `error-text/${method}-whole`,
    `cuts an error of exactly 60,000 bytes when it is told to ${method}`,
    storing(method, (error) => (Buffer.byteLength(error) === 60_000 ? `${error}${TRUNCATED}` : trimErrorText(error))),
  ),
  mutant(
    `error-text/${method}-cut`,
    `stores an error of a megabyte whole when it is told to ${method}`,
    storing(method, (error) => (Buffer.byteLength(error) > 1_000_000 ? error : trimErrorText(error))),
  ),
  mutant(
    `error-text/${method}-cut-between-characters`,
    `cuts an error inside a character when it is told to ${method}`,
    storing(method, (error) =>
      Buffer.byteLength(error) > 60_000
        ? Buffer.from(error).subarray(0, 60_000).toString() + TRUNCATED
        : trimErrorText(error),
    ),
  ),
  mutant(
    `error-text/${method}-storable`,
    `chokes on NUL in an error when it is told to ${method}`,
    storing(method, (error) => {
      if (error.includes('\0')) throw new Error('invalid byte sequence for encoding "UTF8": 0x00');
      return trimErrorText(error);
    }),
  ),
]);

export const finishing: readonly Mutant[] = [
  mutant(
    'release/back-after-its-delay',
    'makes a released job due when its claim would have ended, if that is earlier',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        const { reservedUntil } = row;
        super.released(row, delay, error);
        const deadline = Math.max(reservedUntil ?? 0, this.seconds());
        if (reservedUntil !== null && deadline > this.seconds()) row.availableAt = Math.min(row.availableAt, deadline);
      }
    },
  ),
  mutant(
    'release/ends-the-claim',
    'keeps the claim of a released job that has more than half an hour to go',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        const { reservedUntil } = row;
        super.released(row, delay, error);
        if (reservedUntil !== null && reservedUntil > this.seconds() + 1_800) row.reservedUntil = reservedUntil;
      }
    },
  ),
  mutant(
    'release/keeps-attempts',
    'gives an attempt back when a job that had failed is released on purpose',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        const { lastError } = row;
        super.released(row, delay, error);
        if (error === '' && lastError !== '') row.attempts -= 1;
      }
    },
  ),
  mutant(
    'release/changes-nothing-else',
    'lowers the priority of a released job',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        row.priority -= 1;
      }
    },
  ),
  mutant(
    'release/empty-error-overwrites',
    'keeps the last error where the new one is empty',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error === '' ? row.lastError : error);
      }
    },
  ),
  mutant(
    'finish/deleted-is-gone',
    'keeps a copy of what was done at the first attempt in the failed store',
    class extends ReferenceDriver {
      protected override async deleteOne(claim: Claim): Promise<boolean> {
        return claim.attempts === 1 ? this.failOne(claim, '') : super.deleteOne(claim);
      }
    },
  ),
  mutant(
    'finish/failed-is-not-run-again',
    'runs a failed job again a day later',
    class extends ReferenceDriver {
      readonly #failed: Row[] = [];
      protected override async failOne(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined) this.#failed.push({ ...row, availableAt: this.after(86_400), reservedUntil: null });
        return super.failOne(claim, error);
      }
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        for (const row of this.#failed.filter((one) => this.isDue(one))) this.store.jobs.set(row.id, row);
        return super.take(request);
      }
    },
  ),
  mutant(
    'finish/failed-moves',
    'keeps the first line of a failure’s error alone',
    storing('fail', (error) => trimErrorText(error.split('\n')[0] ?? '')),
  ),
  mutant(
    'finish/each-failure-has-its-row',
    'keeps the last failure of a unique key alone',
    class extends ReferenceDriver {
      readonly #last = new Map<string, number>();
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(row, error);
        if (row.unique === null) return;
        this.store.failed.delete(this.#last.get(row.unique) ?? 0);
        this.#last.set(row.unique, [...this.store.failed.keys()].at(-1) ?? 0);
      }
    },
  ),
  mutant(
    'finish/fail-once',
    'copies a job to the failed store, and deletes it a round trip later, if the claim still holds',
    class extends ReferenceDriver {
      protected override async failOne(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return super.failOne(claim, error);
        this.moveToFailed({ ...row, id: -1 }, error);
        return super.deleteOne(claim);
      }
    },
  ),
  ...errorMutants,
  mutant(
    'payloads/byte-for-byte',
    'loses a line break at the end of a payload when the job fails',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed({ ...row, payloadJson: row.payloadJson.replace(/\n$/, '') }, error);
      }
    },
  ),
  mutant(
    'payloads/byte-for-byte',
    'loses white space at the end of a payload',
    class extends ReferenceDriver {
      protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
        return super.inHand({ ...row, payloadJson: row.payloadJson.trimEnd() }, reclaimed);
      }
    },
  ),
];
