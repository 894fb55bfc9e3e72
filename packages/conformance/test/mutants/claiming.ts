import type { Claim, ReservedJob } from '@q/core';
import type { ClaimRequest } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { Doers, type Mutant, mutant, only } from './mutant.js';

/** A driver that treats what another client has claimed in a way of its own. */
function minding(change: (holders: Doers) => DriverClass): DriverClass {
  const holders = new Doers();
  return class extends change(holders) {
    protected override claim(row: Row, timeout: number, worker: string): void {
      super.claim(row, timeout, worker);
      holders.note(row, this);
    }
  };
}

export const claiming: readonly Mutant[] = [
  mutant(
    'claims/held-by-one',
    'hands out what another client holds for a minute to come, where its queue holds nothing else',
    minding(
      (holders) =>
        class extends ReferenceDriver {
          protected override isHeld(row: Row): boolean {
            const isAlone = [...this.store.jobs.values()].every((one) => one === row || one.queue !== row.queue);
            const isNew = row.attempts === 1 && (row.reservedUntil ?? 0) >= this.seconds() + 60;
            return super.isHeld(row) && !(isAlone && isNew && holders.isAnother(row, this));
          }
        },
    ),
  ),
  mutant(
    'claims/reserving-is-the-attempt',
    'counts a takeover and the attempt after its release as one',
    class extends ReferenceDriver {
      readonly #takenOver = new WeakSet<Row>();
      protected override claim(row: Row, timeout: number, worker: string): void {
        const isTakeover = row.reservedUntil !== null;
        super.claim(row, timeout, worker);
        if (!isTakeover && this.#takenOver.delete(row)) row.attempts -= 1;
        if (isTakeover) this.#takenOver.add(row);
      }
    },
  ),
  mutant(
    'claims/deadline-equal-to-now',
    'takes a deadline equal to now for a live claim of another client',
    minding(
      (holders) =>
        class extends ReferenceDriver {
          protected override isHeld(row: Row): boolean {
            const isNow = row.reservedUntil === this.seconds() && holders.isAnother(row, this);
            return super.isHeld(row) || isNow;
          }
        },
    ),
  ),
  mutant(
    'claims/max-attempts-is-the-workers',
    'does not hand out an expired claim whose attempts are more than used up',
    class extends ReferenceDriver {
      protected override candidates(queue: string): Row[] {
        return super.candidates(queue).filter((row) => row.reservedUntil === null || row.attempts <= row.maxAttempts);
      }
    },
  ),
  mutant(
    'claims/released-past-max-attempts',
    'does not hand out a released job whose attempts are used up',
    class extends ReferenceDriver {
      protected override candidates(queue: string): Row[] {
        return super.candidates(queue).filter((row) => row.reservedUntil !== null || row.attempts < row.maxAttempts);
      }
    },
  ),
  mutant(
    'claims/reclaimed',
    'says that a job was taken over only where it had held it itself',
    minding(
      (holders) =>
        class extends ReferenceDriver {
          protected override isReclaimed(row: Row): boolean {
            return super.isReclaimed(row) && !holders.isAnother(row, this);
          }
        },
    ),
  ),
  mutant(
    'claims/first-is-not-reclaimed',
    'takes a job that is late for one taken over',
    class extends ReferenceDriver {
      protected override isReclaimed(row: Row): boolean {
        return super.isReclaimed(row) || row.availableAt < this.seconds() - 60;
      }
    },
  ),
  mutant(
    'claims/released-is-not-reclaimed',
    'takes every attempt but the first for a takeover',
    class extends ReferenceDriver {
      protected override isReclaimed(row: Row): boolean {
        return row.attempts > 0;
      }
    },
  ),
  mutant(
    'claims/dead-worker',
    'never takes over what it has seen alive in the hands of somebody it does not know',
    minding(
      (holders) =>
        class extends ReferenceDriver {
          readonly #alive = new WeakSet<Row>();
          protected override isHeld(row: Row): boolean {
            if (super.isHeld(row) && holders.isNobody(row)) this.#alive.add(row);
            return super.isHeld(row) || this.#alive.has(row);
          }
        },
    ),
  ),
  mutant(
    'claims/takeover-starts-anew',
    'counts the deadline of a takeover from the old one, where that is long past',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        const old = row.reservedUntil;
        super.claim(row, timeout, worker);
        if (old !== null && old < this.seconds() - 30) row.reservedUntil = old + timeout;
      }
    },
  ),
  mutant(
    'claims/timeout-zero',
    'takes a timeout of 0 for none',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout === 0 ? 3_600 : timeout, worker);
      }
    },
  ),
  mutant(
    'claims/timeout-below-zero',
    'takes the size of a timeout below 0',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout > -3_600 ? Math.abs(timeout) : timeout, worker);
      }
    },
  ),
  mutant(
    'claims/expired-still-finishable-at-zero',
    'does not delete a job whose claim was of 0 seconds',
    class extends ReferenceDriver {
      readonly #none = new Set<number>();
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        return super.take(request).then((job) => {
          if (job !== null && request.timeout === 0) this.#none.add(job.id);
          return job;
        });
      }
      protected override async deleteOne(claim: Claim): Promise<boolean> {
        return this.#none.has(claim.id) ? false : super.deleteOne(claim);
      }
    },
  ),
  mutant(
    'claims/changes-nothing-else',
    'clears the last error when it claims',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        row.lastError = '';
      }
    },
  ),
  mutant(
    'limits/worker-cut',
    'cuts a worker id inside a character',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
        const cut = typeof worker === 'string' ? worker.slice(0, 64).replace(/\p{Surrogate}/gu, '?') : worker;
        return super.reserve(queues, timeout, cut);
      }
    },
  ),
  mutant(
    'races/each-job-once',
    'claims a job that was free when it looked',
    only(
      ['reserve'],
      class extends ReferenceDriver {
        protected override isStillFree(row: Row, seen: Row): boolean {
          return seen.reservedUntil === null || super.isStillFree(row, seen);
        }
      },
    ),
  ),
  mutant(
    'races/one-takes-over',
    'takes over what somebody else has taken over meanwhile',
    class extends ReferenceDriver {
      protected override isStillFree(row: Row, seen: Row): boolean {
        const isTakenOver = seen.reservedUntil !== null && row.reservedUntil !== null && row.attempts > seen.attempts;
        return isTakenOver || super.isStillFree(row, seen);
      }
    },
  ),
  mutant(
    'races/takeover-or-release',
    'guards a claim by the reservation alone, not by the attempt and the due time',
    class extends ReferenceDriver {
      protected override isStillFree(row: Row): boolean {
        return !this.isHeld(row);
      }
    },
  ),
];
