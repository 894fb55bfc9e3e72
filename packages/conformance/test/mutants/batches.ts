import type { Claim, NewJob, ReservedJob } from '@q/core';
import type { ClaimRequest } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

export const batches: readonly Mutant[] = [
  mutant(
    'reserve-many/never-more-than-limit',
    'gives a job more than the limit where that is above four',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        const { limit } = request;
        return super.takeAll({ ...request, limit: limit > 4 ? limit + 1 : limit });
      }
    },
  ),
  mutant(
    'reserve-many/never-more-than-limit',
    'claims more than it gives',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        return (await super.takeAll({ ...request, limit: request.limit * 2 })).slice(0, request.limit);
      }
    },
  ),
  mutant(
    'reserve-many/claims',
    'rounds the deadline of a batch down',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        const jobs = await super.takeAll(request);
        for (const { id } of jobs) {
          const row = this.store.jobs.get(id);
          if (row !== undefined) row.reservedUntil = this.seconds() + request.timeout;
        }
        return jobs;
      }
    },
  ),
  mutant(
    'reserve-many/claims',
    'does not cut the worker id of a batch',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        const jobs = await super.reserveMany(queues, limit, timeout, worker);
        for (const { id } of jobs) {
          const row = this.store.jobs.get(id);
          if (row !== undefined) row.reservedBy = worker;
        }
        return jobs;
      }
    },
  ),
  mutant(
    'reserve-many/order',
    'mixes the queues of a batch by priority',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        const best = (queue: string): number => Math.max(...this.candidates(queue).map(({ priority }) => priority));
        return super.takeAll({ ...request, queues: [...request.queues].sort((a, b) => best(b) - best(a)) });
      }
    },
  ),
  mutant(
    'reserve-many/exact-order',
    'gives the jobs of one priority in the order of their ids',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        const priority = ({ id }: ReservedJob): number => this.store.jobs.get(id)?.priority ?? 0;
        const jobs = await super.takeAll(request);
        return jobs.sort((a, b) => (a.queue === b.queue && priority(a) === priority(b) ? a.id - b.id : 0));
      }
    },
  ),
  mutant(
    'reserve-many/no-queues',
    'makes a query of no queues',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        if (request.queues.length === 0) throw new Error('syntax error at or near ")"');
        return super.takeAll(request);
      }
    },
  ),
  mutant(
    'reserve-many/ends-before-a-reclaimed-job',
    'takes a job over at the end of a batch',
    only(
      ['reserveMany'],
      class extends ReferenceDriver {
        protected override mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
          return !jobs.some(({ id }) => id === seen.id);
        }
      },
    ),
  ),
  mutant(
    'reserve-many/one-reclaimed-at-a-time',
    'takes over a job of each queue in one batch',
    class extends ReferenceDriver {
      protected override async takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
        const jobs: ReservedJob[] = [];
        for (const queue of request.queues) {
          jobs.push(...(await super.takeAll({ ...request, queues: [queue], limit: request.limit - jobs.length })));
        }
        return jobs;
      }
    },
  ),
  mutant(
    'reserve-many/timeout-zero',
    'takes a job that it has just claimed for 0 seconds once more',
    only(
      ['reserveMany'],
      class extends ReferenceDriver {
        protected override mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
          return super.mayFollow(seen, jobs) || jobs.some(({ id }) => id === seen.id);
        }
      },
    ),
  ),
  mutant(
    'reserve-many/race',
    'claims a batch without the guard',
    only(
      ['reserveMany'],
      class extends ReferenceDriver {
        protected override isStillFree(): boolean {
          return true;
        }
      },
    ),
  ),
  mutant(
    'delete-many/all-held',
    'keeps the keys of a batch that is done',
    class extends ReferenceDriver {
      readonly #kept = new Map<string, number>();
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        for (const { id } of claims) {
          const key = this.store.jobs.get(id)?.unique;
          if (key != null) this.#kept.set(key, id);
        }
        return super.deleteAll(claims);
      }
      override async push(job: NewJob): Promise<number> {
        return this.#kept.get(job?.unique ?? '') ?? super.push(job);
      }
    },
  ),
  mutant(
    'delete-many/lost-ones',
    'reports a claim that was taken over as a success',
    class extends ReferenceDriver {
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        const lost = await super.deleteAll(claims);
        return lost.filter(({ id, attempts }) => (this.store.jobs.get(id)?.attempts ?? attempts) === attempts);
      }
    },
  ),
  mutant(
    'delete-many/lost-ones',
    'gives the lost claims in the order of their ids',
    class extends ReferenceDriver {
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return (await super.deleteAll(claims)).sort((a, b) => a.id - b.id);
      }
    },
  ),
  mutant(
    'delete-many/gives-back-what-it-was-given',
    'gives copies of the lost claims',
    class extends ReferenceDriver {
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return (await super.deleteAll(claims)).map((claim) => ({ ...claim }));
      }
    },
  ),
  mutant(
    'delete-many/expired-is-not-lost',
    'takes an expired claim in a batch for lost',
    class extends ReferenceDriver {
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        const held = claims.filter(({ id }) => this.#holds(this.store.jobs.get(id)));
        const lost = await super.deleteAll(held);
        return claims.filter((claim) => lost.includes(claim) || !held.includes(claim));
      }
      #holds(row: Row | undefined): boolean {
        return row !== undefined && this.isHeld(row);
      }
    },
  ),
  mutant(
    'delete-many/any-size',
    'deletes no more than a thousand jobs at once',
    class extends ReferenceDriver {
      protected override async deleteAll<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return super.deleteAll(claims.slice(0, 1_000));
      }
    },
  ),
];
