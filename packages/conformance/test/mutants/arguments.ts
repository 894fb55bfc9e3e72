import type { Claim, InTransaction, ReservedJob } from '@q/core';
import type { ClaimRequest } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { MemoryTransaction } from '../reference-store.js';
import { careless, isQueue, type Mutant, mutant } from './mutant.js';

/** What a careless driver makes of a claim it does not check. */
function anyClaim(claim: Claim): Claim {
  const { id, attempts }: Partial<Claim> = claim ?? {};
  return { id: careless(id), attempts: careless(attempts), handle: '' };
}

function anyText(value: unknown): string {
  return typeof value === 'string' ? value : 'made-up';
}

/** Drivers that make something of what they should refuse. */
export const badArguments: readonly Mutant[] = [
  mutant(
    'limits/reserve-checks-queues',
    'overlooks queues that no job can be in',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
        const possible = Array.isArray(queues)
          ? queues.filter((one) => typeof one !== 'string' || isQueue(one))
          : queues;
        return super.reserve(possible, timeout, worker);
      }
      override async pending(queue?: string | null): Promise<number> {
        return typeof queue !== 'string' || isQueue(queue) ? super.pending(queue) : 0;
      }
    },
  ),
  mutant(
    'limits/reserve-checks-queues',
    'counts all queues where the one named is the empty text',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        return super.pending(queue === '' ? null : queue);
      }
    },
  ),
  mutant(
    'limits/batch-checks-queues',
    'overlooks queues that no job can be in when it is asked for a batch',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        const possible = queues.filter((one) => typeof one !== 'string' || isQueue(one));
        return super.reserveMany(possible, limit, timeout, worker);
      }
    },
  ),
  mutant(
    'plain-values/queues',
    'overlooks queues that are no text',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
        const names: unknown[] = Array.isArray(queues) ? queues : [];
        return super.reserve(
          names.filter((name) => typeof name === 'string'),
          timeout,
          worker,
        );
      }
    },
  ),
  mutant(
    'plain-values/worker',
    'makes text of a worker that is none',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
        return super.reserve(queues, timeout, anyText(worker) || 'made-up');
      }
    },
  ),
  mutant(
    'plain-values/pending',
    'counts all queues where the one named is no text',
    class extends ReferenceDriver {
      override async pending(queue?: string | null): Promise<number> {
        return super.pending(typeof queue === 'string' ? queue : null);
      }
    },
  ),
  mutant(
    'plain-values/delete',
    'makes a claim to delete of what is none',
    class extends ReferenceDriver {
      override async delete(claim: Claim): Promise<boolean> {
        return super.delete(anyClaim(claim));
      }
    },
  ),
  mutant(
    'plain-values/release',
    'makes a claim to release of what is none',
    class extends ReferenceDriver {
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        return super.release(anyClaim(claim), delay, error);
      }
    },
  ),
  mutant(
    'plain-values/fail',
    'makes a claim to fail of what is none',
    class extends ReferenceDriver {
      override async fail(claim: Claim, error: string): Promise<boolean> {
        return super.fail(anyClaim(claim), error);
      }
    },
  ),
  mutant(
    'plain-values/extend',
    'makes a claim to extend of what is none',
    class extends ReferenceDriver {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        return super.extend(anyClaim(claim), timeout);
      }
    },
  ),
  mutant(
    'plain-values/release-error',
    'makes text of a release’s error that is none',
    class extends ReferenceDriver {
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        return super.release(claim, delay, anyText(error));
      }
    },
  ),
  mutant(
    'plain-values/fail-error',
    'makes text of a failure’s error that is none',
    class extends ReferenceDriver {
      override async fail(claim: Claim, error: string): Promise<boolean> {
        return super.fail(claim, anyText(error));
      }
    },
  ),
  mutant(
    'plain-values/batches',
    'overlooks what is no claim in a batch',
    class extends ReferenceDriver {
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return super.deleteMany(claims?.filter?.((claim) => typeof claim.id === 'number') ?? []);
      }
    },
  ),
  mutant(
    'plain-values/batch-worker',
    'makes text of the worker of a batch that is none',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return super.reserveMany(queues, limit, timeout, anyText(worker) || 'made-up');
      }
    },
  ),
  mutant(
    'plain-values/extend-many',
    'overlooks what is no claim in a batch to extend',
    class extends ReferenceDriver {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        const list: readonly C[] = Array.isArray(claims) ? claims : [];
        return super.extendMany(
          list.filter((claim) => typeof claim?.id === 'number'),
          timeout,
        );
      }
    },
  ),
  mutant(
    'plain-values/within-delete',
    'makes a claim to delete within a transaction of what is none',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction): InTransaction {
        const right = super.within(tx);
        return { ...right, delete: async (claim) => right.delete(anyClaim(claim)) };
      }
    },
  ),
  mutant(
    'plain-values/find',
    'makes a number of an id that is none',
    class extends ReferenceDriver {
      override async find(id: number) {
        return super.find(careless(id));
      }
    },
  ),
  mutant(
    'numbers/timeout-not-whole',
    'makes a whole number of a timeout that is none',
    class extends ReferenceDriver {
      override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
        return super.reserve(queues, Number.isSafeInteger(timeout) ? timeout : careless(timeout), worker);
      }
    },
  ),
  mutant(
    'numbers/release-delay-not-whole',
    'makes a whole number of a release’s delay that is none',
    class extends ReferenceDriver {
      override async release(claim: Claim, delay: number, error: string): Promise<boolean> {
        return super.release(claim, careless(delay), error);
      }
    },
  ),
  mutant(
    'numbers/extend-timeout-not-whole',
    'makes a whole number of an extension’s timeout that is none',
    class extends ReferenceDriver {
      override async extend(claim: Claim, timeout: number): Promise<boolean> {
        return super.extend(claim, careless(timeout));
      }
    },
  ),
  mutant(
    'numbers/limit-not-whole',
    'makes a whole number of a limit that is none',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return super.reserveMany(queues, careless(limit), timeout, worker);
      }
    },
  ),
  mutant(
    'numbers/batch-timeout-not-whole',
    'makes a whole number of the timeout of a batch that is none',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return super.reserveMany(queues, limit, careless(timeout), worker);
      }
    },
  ),
  mutant(
    'numbers/extend-many-timeout-not-whole',
    'makes a whole number of the timeout of a batch to extend that is none',
    class extends ReferenceDriver {
      override async extendMany<C extends Claim>(claims: readonly C[], timeout: number): Promise<C[]> {
        return super.extendMany(claims, careless(timeout));
      }
    },
  ),
  mutant(
    'numbers/reports-not-whole',
    'makes a whole number of the limit of a report that is none',
    class extends ReferenceDriver {
      override async failedRows(limit: number) {
        return super.failedRows(careless(limit));
      }
    },
  ),
  mutant(
    'numbers/limit-floor',
    'gives no job for a limit of 0',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return limit === 0 ? [] : super.reserveMany(queues, limit, timeout, worker);
      }
    },
  ),
  mutant(
    'numbers/reports-floor',
    'gives no row for a limit of 0',
    class extends ReferenceDriver {
      override async failedRows(limit: number) {
        return limit === 0 ? [] : super.failedRows(limit);
      }
    },
  ),
  mutant(
    'numbers/largest-timeout',
    'keeps timeouts in 32 bits',
    class extends ReferenceDriver {
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        return super.take({ ...request, timeout: request.timeout | 0 });
      }
    },
  ),
];
