import type { Claim } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { Doers, type Mutant, mutant, only } from './mutant.js';

const METHODS = ['delete', 'release', 'fail', 'extend'] as const;

/** A driver whose fence is another; `whole` is what the right one says. */
function fencing(fence: (claim: Claim, row: Row, whole: boolean, driver: Fenced) => boolean): DriverClass {
  return class extends Fenced {
    protected override isClaimOf(claim: Claim, row: Row): boolean {
      return fence(claim, row, super.isClaimOf(claim, row), this);
    }
  };
}

/** Shows a fence what time it is. */
class Fenced extends ReferenceDriver {
  get second(): number {
    return this.seconds();
  }
}

/** A driver whose `method` does not compare the attempt where another client holds the job. */
function trustingOthers(method: (typeof METHODS)[number]): DriverClass {
  const holders = new Doers();
  return class extends ReferenceDriver {
    #acting = false;
    protected override claim(row: Row, timeout: number, worker: string): void {
      super.claim(row, timeout, worker);
      holders.note(row, this);
    }
    protected override isClaimOf(claim: Claim, row: Row): boolean {
      const isOthers = this.#acting && row.reservedUntil !== null && holders.isAnother(row, this);
      return isOthers || super.isClaimOf(claim, row);
    }
    override delete(claim: Claim): Promise<boolean> {
      return this.#as('delete', () => super.delete(claim));
    }
    override release(claim: Claim, delay: number, error: string): Promise<boolean> {
      return this.#as('release', () => super.release(claim, delay, error));
    }
    override fail(claim: Claim, error: string): Promise<boolean> {
      return this.#as('fail', () => super.fail(claim, error));
    }
    override extend(claim: Claim, timeout: number): Promise<boolean> {
      return this.#as('extend', () => super.extend(claim, timeout));
    }
    async #as(acting: string, act: () => Promise<boolean>): Promise<boolean> {
      this.#acting = acting === method;
      try {
        return await act();
      } finally {
        this.#acting = false;
      }
    }
  };
}

/** What a driver may do with a claim on a job that was never pushed. */
class NeverPushed extends ReferenceDriver {
  protected override async act(claim: Claim, change: (row: Row) => void): Promise<boolean> {
    const highest = Math.max(0, ...this.store.jobs.keys(), ...this.store.failed.keys());
    return claim.id > highest + 100 ? this.onNever() : super.act(claim, change);
  }

  protected onNever(): boolean {
    return true;
  }
}

class ThrowsOnNeverPushed extends NeverPushed {
  protected override onNever(): boolean {
    throw new Error('there is no such job');
  }
}

export const fences: readonly Mutant[] = [
  ...METHODS.flatMap((method) => [
    mutant(
      `fences/${method}-after-takeover`,
      `does not compare the attempt when it is told to ${method} what another client holds`,
      trustingOthers(method),
    ),
    mutant(
      `fences/${method}-after-release`,
      `does not ask for a claim when it is told to ${method} a job that is due within a minute`,
      only(
        [method],
        fencing((claim, row, whole, driver) => {
          const isSoonDue = row.availableAt < driver.second + 60;
          return whole || (isSoonDue && row.attempts === claim.attempts);
        }),
      ),
    ),
    mutant(
      `fences/${method}-when-expired`,
      `does not ${method} a job whose claim expired a quarter of an hour ago`,
      only(
        [method],
        fencing((_, row, whole, driver) => whole && driver.second - (row.reservedUntil ?? 0) < 900),
      ),
    ),
  ]),
  mutant(
    'fences/release-after-release',
    'sets the due time of a release before it looks at the claim',
    class extends ReferenceDriver {
      protected override async releaseOne(claim: Claim, delay: number, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined) row.availableAt = this.after(delay);
        return super.releaseOne(claim, delay, error);
      }
    },
  ),
  mutant('fences/delete-when-gone', 'says that it deleted a job that was never pushed', only(['delete'], NeverPushed)),
  mutant(
    'fences/release-when-gone',
    'throws where the job to release was never pushed',
    only(['release'], ThrowsOnNeverPushed),
  ),
  mutant('fences/fail-when-gone', 'throws where the job to fail was never pushed', only(['fail'], ThrowsOnNeverPushed)),
  mutant('fences/extend-when-gone', 'says that it extended a claim that never was', only(['extend'], NeverPushed)),
  mutant(
    'fences/stale-fail-leaves-no-trace',
    'copies a job that another worker holds to the failed store before it looks at the claim',
    class extends ReferenceDriver {
      protected override async failOne(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row !== undefined && row.reservedUntil !== null && !this.isClaimOf(claim, row)) {
          this.moveToFailed({ ...row }, error);
          this.store.jobs.set(row.id, row);
        }
        return super.failOne(claim, error);
      }
    },
  ),
  mutant(
    'fences/only-the-claim-meant',
    'fails whatever is held at the same attempt',
    class extends ReferenceDriver {
      protected override async failOne(claim: Claim, error: string): Promise<boolean> {
        const others = [...this.store.jobs.values()].filter((row) => row.id !== claim.id && this.isClaimOf(claim, row));
        const isAlone = this.store.open.size === 0;
        for (const row of others) if (isAlone) this.moveToFailed(row, error);
        return super.failOne(claim, error);
      }
    },
  ),
  mutant(
    'races/one-finishes',
    'looks at the claim first and releases the job a round trip later',
    class extends ReferenceDriver {
      protected override async releaseOne(claim: Claim, delay: number, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        const isHeld = row !== undefined && this.isClaimOf(claim, row);
        if (!isHeld || this.isHeld(row) === false || this.store.open.size > 0)
          return super.releaseOne(claim, delay, error);
        await this.roundTrip();
        this.released(row, delay, error);
        return true;
      }
    },
  ),
  mutant(
    'races/takeover-or-finish',
    'deletes what it saw two round trips ago, whoever holds it by then',
    class extends ReferenceDriver {
      protected override async deleteOne(claim: Claim): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return false;
        await this.roundTrip();
        if (row.reservedUntil !== null) await this.roundTrip();
        return (
          row.reservedUntil !== null && this.store.lockerOf(row.id) === undefined && this.store.jobs.delete(row.id)
        );
      }
    },
  ),
];
