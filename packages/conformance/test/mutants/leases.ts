import type { Claim } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

/** The row of a claim, for a mutant that does more, or less, to it than it should. */
class Extending extends ReferenceDriver {
  protected rowOf({ id }: Claim): Row | undefined {
    return this.store.jobs.get(id);
  }
}

export const leases: readonly Mutant[] = [
  mutant(
    'leases/extended-from-now',
    'extends a claim from its old deadline',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        const old = this.rowOf(claim)?.reservedUntil ?? 0;
        const done = await super.extend(claim, timeout);
        const row = this.rowOf(claim);
        if (done && row !== undefined && old > this.seconds()) row.reservedUntil = old + timeout;
        return done;
      }
    },
  ),
  mutant(
    'leases/shortened',
    'never moves a deadline back',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        const old = this.rowOf(claim)?.reservedUntil ?? 0;
        const done = await super.extend(claim, timeout);
        const row = this.rowOf(claim);
        if (done && row !== undefined) row.reservedUntil = Math.max(old, row.reservedUntil ?? 0);
        return done;
      }
    },
  ),
  mutant(
    'leases/revived',
    'takes an expired claim for lost when it is to be extended',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        const row = this.rowOf(claim);
        return row !== undefined && this.isHeld(row) ? super.extend(claim, timeout) : false;
      }
    },
  ),
  mutant(
    'leases/never-early',
    'rounds the end of an extension down',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        const done = await super.extend(claim, timeout);
        const row = this.rowOf(claim);
        if (done && row !== undefined && timeout > 0) row.reservedUntil = this.seconds() + timeout;
        return done;
      }
    },
  ),
  mutant(
    'leases/zero',
    'does nothing for an extension of 0 seconds',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        return timeout === 0 ? true : super.extend(claim, timeout);
      }
    },
  ),
  mutant(
    'leases/changes-nothing-else',
    'counts an extension as an attempt',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        const done = await super.extend(claim, timeout);
        const row = this.rowOf(claim);
        if (done && row !== undefined) row.attempts += 1;
        return done;
      }
    },
  ),
  mutant(
    'leases/only-its-own',
    'extends every claim of the attempt',
    class extends Extending {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        for (const row of this.store.jobs.values()) {
          if (this.isClaimOf(claim, row)) row.reservedUntil = this.after(timeout);
        }
        return super.extend(claim, timeout);
      }
    },
  ),
  mutant(
    'leases/batch',
    'extends the first claim of a batch alone',
    class extends Extending {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        return super.extendMany(claims.slice(0, 1), timeout);
      }
    },
  ),
  mutant(
    'leases/batch-lost-ones',
    'does not compare the attempt when it extends a batch',
    class extends Extending {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        const lost: C[] = [];
        for (const claim of claims) {
          const row = this.rowOf(claim);
          if (row === undefined || row.reservedUntil === null) lost.push(claim);
          else row.reservedUntil = this.after(timeout);
        }
        return lost;
      }
    },
  ),
  mutant(
    'leases/batch-gives-back-what-it-was-given',
    'gives copies of the claims it could not extend',
    class extends Extending {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        return (await super.extendMany(claims, timeout)).map((claim) => ({ ...claim }));
      }
    },
  ),
  mutant(
    'leases/batch-revives',
    'takes an expired claim in a batch for lost when it is to be extended',
    class extends Extending {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        const live = claims.filter((claim) => {
          const row = this.rowOf(claim);
          return row !== undefined && this.isHeld(row);
        });
        return [...(await super.extendMany(live, timeout)), ...claims.filter((claim) => !live.includes(claim))];
      }
    },
  ),
];
