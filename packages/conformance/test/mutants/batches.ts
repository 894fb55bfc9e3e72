import type { Claim, ReservedJob } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

export const batches: readonly Mutant[] = [
  mutant(
    'reserve-many/never-more-than-limit',
    'gives a job more than the limit',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return super.reserveMany(queues, limit + 1, timeout, worker);
      }
    },
  ),
  mutant(
    'reserve-many/takes-no-more',
    'claims more than it gives',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return (await super.reserveMany(queues, limit * 2, timeout, worker)).slice(0, limit);
      }
    },
  ),
  mutant(
    'reserve-many/claims',
    'rounds the deadline of a batch down',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        const jobs = await super.reserveMany(queues, limit, timeout, worker);
        for (const { id } of jobs) {
          const row = this.store.jobs.get(id);
          if (row !== undefined) row.reservedUntil = this.seconds() + timeout;
        }
        return jobs;
      }
    },
  ),
  mutant(
    'reserve-many/order',
    'mixes the queues of a batch by priority',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        const best = (queue: string): number => Math.max(...this.candidates(queue).map(({ priority }) => priority));
        return super.reserveMany(
          [...queues].sort((a, b) => best(b) - best(a)),
          limit,
          timeout,
          worker,
        );
      }
    },
  ),
  mutant(
    'reserve-many/exact-order',
    'gives a batch in the order of its ids',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return (await super.reserveMany(queues, limit, timeout, worker)).sort((a, b) => a.id - b.id);
      }
    },
  ),
  mutant(
    'reserve-many/no-queues',
    'takes no queues for all of them, due or not',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        if (queues.length === 0) throw new Error('syntax error at or near ")"');
        return super.reserveMany(queues, limit, timeout, worker);
      }
    },
  ),
  mutant(
    'reserve-many/ends-before-a-reclaimed-job',
    'takes a job over beside others',
    class extends ReferenceDriver {
      protected override comesAlone(): boolean {
        return false;
      }
    },
  ),
  mutant(
    'reserve-many/one-reclaimed-at-a-time',
    'takes over a job of each queue in one batch',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        const jobs: ReservedJob[] = [];
        for (const queue of queues)
          jobs.push(...(await super.reserveMany([queue], limit - jobs.length, timeout, worker)));
        return jobs;
      }
    },
  ),
  mutant(
    'reserve-many/race',
    'claims a batch without the guard',
    class extends ReferenceDriver {
      protected override isStillFree(): boolean {
        return true;
      }
    },
  ),
  mutant(
    'delete-many/all-held',
    'deletes the first job of a batch alone',
    class extends ReferenceDriver {
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return super.deleteMany(claims.slice(0, 1));
      }
    },
  ),
  mutant(
    'delete-many/lost-ones',
    'reports a lost claim as a success',
    class extends ReferenceDriver {
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        await super.deleteMany(claims);
        return [];
      }
    },
  ),
  mutant(
    'delete-many/gives-back-what-it-was-given',
    'gives copies of the lost claims',
    class extends ReferenceDriver {
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return (await super.deleteMany(claims)).map((claim) => ({ ...claim }));
      }
    },
  ),
  mutant(
    'delete-many/expired-is-not-lost',
    'takes an expired claim in a batch for lost',
    class extends ReferenceDriver {
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        const held = claims.filter(({ id }) => this.#holds(this.store.jobs.get(id)));
        return [...(await super.deleteMany(held)), ...claims.filter((claim) => !held.includes(claim))];
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
      override async deleteMany<C extends Claim>(claims: readonly C[]): Promise<C[]> {
        return super.deleteMany(claims.slice(0, 1_000));
      }
    },
  ),
];
