import type { ReservedJob } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const claiming: readonly Mutant[] = [
  mutant(
    'claims/held-by-one',
    'hands out what another client holds',
    class extends ReferenceDriver {
      readonly #mine = new Set<number>();
      protected override claim(row: Row, timeout: number, worker: string): void {
        this.#mine.add(row.id);
        super.claim(row, timeout, worker);
      }
      protected override isHeld(row: Row): boolean {
        return super.isHeld(row) && this.#mine.has(row.id);
      }
    },
  ),
  mutant(
    'claims/reserving-is-the-attempt',
    'counts the attempt when it fails, not when it is claimed',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        if (row.reservedBy !== null && row.lastError === '') row.attempts = Math.max(1, row.attempts - 1);
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
    'never says that a job was taken over',
    class extends ReferenceDriver {
      protected override isReclaimed(): boolean {
        return false;
      }
    },
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
    'takes over only what it claimed itself',
    class extends ReferenceDriver {
      readonly #mine = new Set<number>();
      protected override claim(row: Row, timeout: number, worker: string): void {
        this.#mine.add(row.id);
        super.claim(row, timeout, worker);
      }
      protected override isHeld(row: Row): boolean {
        return super.isHeld(row) || (row.reservedUntil !== null && !this.#mine.has(row.id));
      }
    },
  ),
  mutant(
    'claims/takeover-starts-anew',
    'counts the deadline of a takeover from the old one',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        const old = row.reservedUntil;
        super.claim(row, timeout, worker);
        if (old !== null) row.reservedUntil = old + timeout;
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
        super.claim(row, Math.abs(timeout), worker);
      }
    },
  ),
  mutant(
    'claims/expired-still-finishable-at-zero',
    'makes no claim where the timeout is 0',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        if (timeout <= 0) row.reservedUntil = null;
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
        return super.reserve(queues, timeout, worker.slice(0, 64).replace(/\p{Surrogate}/gu, '?'));
      }
    },
  ),
  mutant(
    'races/each-job-once',
    'claims without the guard',
    class extends ReferenceDriver {
      protected override isStillFree(): boolean {
        return true;
      }
    },
  ),
  mutant(
    'races/one-takes-over',
    'takes over without looking whether somebody else has',
    class extends ReferenceDriver {
      protected override isStillFree(row: Row, seen: Row): boolean {
        return seen.reservedUntil !== null || super.isStillFree(row, seen);
      }
    },
  ),
];
