import type { Claim } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

type Method = 'delete' | 'release' | 'fail' | 'extend';
type Fence = (claim: Claim, row: Row, whole: boolean) => boolean;

/** A driver whose `method` alone has a fence of its own; `whole` is what the right one says. */
function fencing(method: Method, fence: Fence, missing?: () => boolean): DriverClass {
  return class extends ReferenceDriver {
    #acting: Method | null = null;
    override delete(claim: Claim): Promise<boolean> {
      return this.#as('delete', claim, () => super.delete(claim));
    }
    override release(claim: Claim, delay: number, error: string): Promise<boolean> {
      return this.#as('release', claim, () => super.release(claim, delay, error));
    }
    override fail(claim: Claim, error: string): Promise<boolean> {
      return this.#as('fail', claim, () => super.fail(claim, error));
    }
    override extend(claim: Claim, timeout: number): Promise<boolean> {
      return this.#as('extend', claim, () => super.extend(claim, timeout));
    }
    protected override isClaimOf(claim: Claim, row: Row): boolean {
      const whole = super.isClaimOf(claim, row);
      return this.#acting === method ? fence(claim, row, whole) : whole;
    }
    async #as(acting: Method, claim: Claim, act: () => Promise<boolean>): Promise<boolean> {
      if (acting === method && missing !== undefined && !this.store.jobs.has(claim.id)) return missing();
      this.#acting = acting;
      try {
        return await act();
      } finally {
        this.#acting = null;
      }
    }
  };
}

const METHODS: readonly Method[] = ['delete', 'release', 'fail', 'extend'];

export const fences: readonly Mutant[] = [
  ...METHODS.flatMap((method) => [
    mutant(
      `fences/${method}-after-takeover`,
      `does not compare the attempt when it is told to ${method}`,
      fencing(method, (_, row) => row.reservedUntil !== null),
    ),
    mutant(
      `fences/${method}-after-release`,
      `does not ask for a claim when it is told to ${method}`,
      fencing(method, (claim, row) => row.attempts === claim.attempts),
    ),
    mutant(
      `fences/${method}-when-expired`,
      `does not ${method} a job whose claim has expired`,
      fencing(method, (_, row, whole) => whole && (row.reservedUntil ?? 0) > Date.parse('2031-05-17T10:21:00Z') / 1000),
    ),
  ]),
  mutant(
    'fences/delete-when-gone',
    'says that it deleted a job that is gone',
    fencing(
      'delete',
      (_, __, whole) => whole,
      () => true,
    ),
  ),
  mutant(
    'fences/release-when-gone',
    'throws where the job to release is gone',
    fencing(
      'release',
      (_, __, whole) => whole,
      () => gone(),
    ),
  ),
  mutant(
    'fences/fail-when-gone',
    'throws where the job to fail is gone',
    fencing(
      'fail',
      (_, __, whole) => whole,
      () => gone(),
    ),
  ),
  mutant(
    'fences/extend-when-gone',
    'says that it extended a claim that is gone',
    fencing(
      'extend',
      (_, __, whole) => whole,
      () => true,
    ),
  ),
  mutant(
    'fences/stale-fail-leaves-no-trace',
    'copies a job to the failed store before it looks at the claim',
    class extends ReferenceDriver {
      override async fail(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined && !this.isClaimOf(claim, row)) {
          this.moveToFailed({ ...row }, error);
          this.store.jobs.set(row.id, row);
        }
        return super.fail(claim, error);
      }
    },
  ),
  mutant(
    'fences/first-release-counts',
    'sets the due time of a release before it looks at the claim',
    class extends ReferenceDriver {
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined) row.availableAt = this.after(delay);
        return super.release(claim, delay, error);
      }
    },
  ),
  mutant(
    'fences/only-the-claim-meant',
    'deletes whatever is at the same attempt',
    class extends ReferenceDriver {
      override async delete(claim: Claim): Promise<boolean> {
        for (const row of [...this.store.jobs.values()]) {
          if (row.id !== claim.id && this.isClaimOf(claim, row)) this.store.jobs.delete(row.id);
        }
        return super.delete(claim);
      }
    },
  ),
  mutant(
    'races/one-finishes',
    'looks at the claim first and acts a round trip later',
    class extends ReferenceDriver {
      protected override async act(claim: Claim, change: (row: Row) => void): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return false;
        await this.roundTrip();
        change(row);
        return true;
      }
    },
  ),
  mutant(
    'races/takeover-or-finish',
    'deletes what it saw a round trip ago, whoever holds it by then',
    class extends ReferenceDriver {
      override async delete(claim: Claim): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return false;
        await this.roundTrip();
        await this.roundTrip();
        return this.store.jobs.delete(row.id);
      }
    },
  ),
];

function gone(): never {
  throw new Error('the job is gone');
}
