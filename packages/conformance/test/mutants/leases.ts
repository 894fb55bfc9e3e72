import type { Claim } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

/** A driver that extends a claim in a way of its own: `old` is the deadline before, in seconds. */
class Extending extends ReferenceDriver {
  protected override extended(row: Row, timeout: number): void {
    const old = row.reservedUntil ?? 0;
    super.extended(row, timeout);
    this.correct(row, timeout, old);
  }

  protected correct(_row: Row, _timeout: number, _old: number): void {}
}

export const leases: readonly Mutant[] = [
  mutant(
    'leases/extended-from-now',
    'extends a claim from its old deadline, near its end',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row, timeout: number, old: number): void {
          const left = old - this.seconds();
          if (left > 0 && left <= 10) row.reservedUntil = old + timeout;
        }
      },
    ),
  ),
  mutant(
    'leases/shortened',
    'does not shorten a claim that has more than half an hour to go',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row, _: number, old: number): void {
          if (old > this.seconds() + 1_800) row.reservedUntil = Math.max(old, row.reservedUntil ?? 0);
        }
      },
    ),
  ),
  mutant(
    'leases/revived',
    'revives an expired claim as another attempt',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row, _: number, old: number): void {
          if (old <= this.seconds()) row.attempts += 1;
        }
      },
    ),
  ),
  mutant(
    'leases/never-early',
    'rounds the end of an extension down',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row, timeout: number): void {
          if (timeout > 0) row.reservedUntil = this.seconds() + timeout;
        }
      },
    ),
  ),
  mutant(
    'leases/zero',
    'does nothing for an extension of 0 seconds',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row, timeout: number, old: number): void {
          if (timeout === 0) row.reservedUntil = old;
        }
      },
    ),
  ),
  mutant(
    'leases/changes-nothing-else',
    'forgets who holds a claim that was extended',
    only(
      ['extend'],
      class extends Extending {
        protected override correct(row: Row): void {
          row.reservedBy = null;
        }
      },
    ),
  ),
  mutant(
    'leases/only-its-own',
    'extends every claim of the attempt',
    class extends ReferenceDriver {
      protected override async extendOne(claim: Claim, timeout: number): Promise<boolean> {
        for (const row of this.store.jobs.values()) {
          if (row.attempts === claim.attempts && row.reservedUntil !== null) row.reservedUntil = this.after(timeout);
        }
        return super.extendOne(claim, timeout);
      }
    },
  ),
  mutant(
    'leases/batch',
    'extends a batch from its old deadlines',
    only(
      ['extendMany'],
      class extends Extending {
        protected override correct(row: Row, timeout: number, old: number): void {
          row.reservedUntil = Math.max(this.seconds(), old) + timeout;
        }
      },
    ),
  ),
  mutant(
    'leases/batch',
    'rounds the end of an extension down for a batch',
    only(
      ['extendMany'],
      class extends Extending {
        protected override correct(row: Row, timeout: number): void {
          row.reservedUntil = this.seconds() + timeout;
        }
      },
    ),
  ),
  mutant(
    'leases/batch-lost-ones',
    'does not compare the attempt when it extends a batch',
    only(
      ['extendMany'],
      class extends ReferenceDriver {
        protected override isClaimOf(_: Claim, row: Row): boolean {
          return row.reservedUntil !== null;
        }
      },
    ),
  ),
  mutant(
    'leases/batch-lost-ones',
    'gives the claims it could not extend in the order of their ids',
    class extends ReferenceDriver {
      protected override async extendAll<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        return (await super.extendAll(claims, timeout)).sort((a, b) => a.id - b.id);
      }
    },
  ),
  mutant(
    'leases/batch-gives-back-what-it-was-given',
    'gives copies of the claims it could not extend',
    class extends ReferenceDriver {
      protected override async extendAll<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        return (await super.extendAll(claims, timeout)).map((claim) => ({ ...claim }));
      }
    },
  ),
  mutant(
    'leases/batch-revives',
    'takes an expired claim in a batch for lost when it is to be extended',
    only(
      ['extendMany'],
      class extends ReferenceDriver {
        protected override isClaimOf(claim: Claim, row: Row): boolean {
          return super.isClaimOf(claim, row) && this.isHeld(row);
        }
      },
    ),
  ),
];
