import type { Claim } from '@q/core';
import type { ClaimRequest, EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from './reference-driver.js';
import type { DriverClass } from './reference-harness.js';
import type { Row } from './reference-store.js';

/** A bug that the model has to find by itself. */
export interface SeededBug {
  /** Follows "a driver that". */
  readonly what: string;
  readonly found: 'in sequences' | 'in schedules';
  readonly Driver: DriverClass;
}

export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    what: 'rounds the deadline of a claim to the nearest second',
    found: 'in sequences',
    Driver: class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        if (timeout > 0) row.reservedUntil = Math.round(this.now().getTime() / 1000 + timeout);
      }
    },
  },
  {
    what: 'frees a unique key while the claim of its holder has expired',
    found: 'in sequences',
    Driver: class extends ReferenceDriver {
      protected override holderOf(key: string | null, rows: Iterable<Row>): Row | undefined {
        const holder = super.holderOf(key, rows);
        return holder?.reservedUntil !== null && holder !== undefined && !this.isHeld(holder) ? undefined : holder;
      }
    },
  },
  {
    what: 'remembers where a requeued job stood in its queue',
    found: 'in sequences',
    Driver: class extends ReferenceDriver {
      readonly #priorities = new Map<string, number>();
      protected override newRow(job: EncodedJob): Row {
        const row = super.newRow(job);
        row.priority = this.#priorities.get(job.payloadJson) ?? row.priority;
        this.#priorities.set(job.payloadJson, row.priority);
        return row;
      }
    },
  },
  {
    what: 'claims before it deletes when it turns over',
    found: 'in sequences',
    Driver: class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: readonly C[], request: ClaimRequest) {
        const jobs = await this.claimSome(request);
        return { lost: await this.deleteAll(claims), jobs };
      }
    },
  },
  {
    what: 'looks at the claims of a turnover first and deletes a round trip later',
    found: 'in schedules',
    Driver: class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: readonly C[], request: ClaimRequest) {
        const rows = claims.map((claim) => ({ claim, row: this.store.jobs.get(claim.id) }));
        const held = rows.filter(({ claim, row }) => row !== undefined && this.isClaimOf(claim, row));
        await this.roundTrip();
        await this.roundTrip();
        const deleted = new Set(held.map(({ claim }) => claim).filter(({ id }) => this.store.jobs.delete(id)));
        const { jobs } = await super.turnOver([], request);
        return { lost: claims.filter((claim) => !deleted.has(claim)), jobs };
      }
    },
  },
  {
    what: 'claims what was free when it looked, by the reservation alone',
    found: 'in schedules',
    Driver: class extends ReferenceDriver {
      protected override isStillFree(row: Row): boolean {
        return !this.isHeld(row);
      }
    },
  },
  {
    what: 'looks at a claim first and deletes a round trip later',
    found: 'in schedules',
    Driver: class extends ReferenceDriver {
      protected override async deleteOne(claim: { id: number; attempts: number; handle: string }): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row === undefined || !this.isClaimOf(claim, row)) return false;
        await this.roundTrip();
        await this.roundTrip();
        return this.store.jobs.delete(row.id);
      }
    },
  },
];
