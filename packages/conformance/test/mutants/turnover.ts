import type { Claim, NewJob, ReservedJob, Turnover } from '@q/core';
import { CLAIM_ROUNDS, type ClaimRequest } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { Row } from '../reference-store.js';
import { careless, type Mutant, mutant, only } from './mutant.js';

type Claims<C> = readonly C[];

export const turnover: readonly Mutant[] = [
  mutant(
    'turnover/deletes-and-claims',
    'mixes the queues of a turnover by priority',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const best = (queue: string): number => Math.max(...this.candidates(queue).map(({ priority }) => priority));
        return super.turnOver(claims, { ...request, queues: [...request.queues].sort((a, b) => best(b) - best(a)) });
      }
    },
  ),
  mutant(
    'turnover/claims',
    'rounds the deadlines that a turnover gives down',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const answer = await super.turnOver(claims, request);
        for (const { id } of answer.jobs) {
          const row = this.store.jobs.get(id);
          if (row !== undefined) row.reservedUntil = this.seconds() + request.timeout;
        }
        return answer;
      }
    },
  ),
  mutant(
    'turnover/lost-ones',
    'gives the claims that a turnover lost in the order of their ids',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const { lost, jobs } = await super.turnOver(claims, request);
        return { lost: lost.sort((a, b) => a.id - b.id), jobs };
      }
    },
  ),
  mutant(
    'turnover/lost-ones',
    'deletes by the id alone when it turns over',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const lost = claims.filter(({ id }) => !this.store.jobs.delete(id));
        return { lost, jobs: (await super.turnOver([], request)).jobs };
      }
    },
  ),
  mutant(
    'turnover/gives-back-what-it-was-given',
    'gives copies of the claims that a turnover lost',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const { lost, jobs } = await super.turnOver(claims, request);
        return { lost: lost.map((claim) => ({ ...claim })), jobs };
      }
    },
  ),
  mutant(
    'turnover/expired-is-done',
    'claims before it deletes, and so takes over what was done',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const jobs = await this.claimSome(request);
        return { lost: await this.deleteAll(claims), jobs };
      }
    },
  ),
  mutant(
    'turnover/expired-is-done',
    'finds nothing where the first it found is what it deletes',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const first = request.queues.map((queue) => this.candidate(queue)).find((row) => row !== undefined);
        const isDone = claims.some(({ id, attempts }) => id === first?.id && attempts === first.attempts);
        return super.turnOver(claims, isDone ? { ...request, queues: [] } : request);
      }
    },
  ),
  mutant(
    'turnover/expired-and-nothing-else',
    'hands out again what it deletes where it is asked for more, and finds none',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const done = claims.flatMap((claim) => this.#expired(claim) ?? []);
        const { lost, jobs } = await super.turnOver(claims, request);
        if (jobs.length > 0 || request.limit <= claims.length) return { lost, jobs };
        return { lost, jobs: done.flatMap((row) => this.inHand(row, true) ?? []) };
      }
      #expired(claim: Claim): Row | undefined {
        const row = this.store.jobs.get(claim.id);
        return row !== undefined && this.isClaimOf(claim, row) && !this.isHeld(row) ? row : undefined;
      }
    },
  ),
  mutant(
    'turnover/taken-over',
    'keeps a job back whose id is among those of its claims, though that claim was lost',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const { lost, jobs } = await super.turnOver(claims, request);
        return { lost, jobs: jobs.filter((job) => !claims.some(({ id }) => id === job.id)) };
      }
    },
  ),
  mutant(
    'turnover/reclaimed-alone',
    'takes a job over at the end of what a turnover gives',
    only(
      ['deleteAndReserve'],
      class extends ReferenceDriver {
        protected override mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
          return !jobs.some(({ id }) => id === seen.id);
        }
      },
    ),
  ),
  mutant(
    'turnover/reclaimed-alone',
    'claims others after a job that a turnover has taken over',
    only(
      ['deleteAndReserve'],
      class extends ReferenceDriver {
        protected override mayBeFollowed(): boolean {
          return true;
        }
      },
    ),
  ),
  mutant(
    'turnover/undecodable',
    'has five rounds for all the broken payloads that a turnover comes upon',
    only(
      ['deleteAndReserve'],
      class extends ReferenceDriver {
        #broken = 0;
        protected override turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest): Promise<Turnover<C>> {
          this.#broken = 0;
          return super.turnOver(claims, request);
        }
        protected override moveToFailed(row: Row, error: string): void {
          this.#broken += 1;
          super.moveToFailed(row, error);
        }
        protected override mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
          return super.mayFollow(seen, jobs) && (jobs.length === 0 || this.#broken < CLAIM_ROUNDS);
        }
      },
    ),
  ),
  mutant(
    'turnover/limit',
    'gives a job more than the limit of a turnover where that is above four',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const { limit } = request;
        return super.turnOver(claims, { ...request, limit: limit > 4 ? limit + 1 : limit });
      }
    },
  ),
  mutant(
    'turnover/limit',
    'claims no job in a turnover whose limit is 0',
    class extends ReferenceDriver {
      override async deleteAndReserve<C extends Claim>(...[claims, queues, limit, ...rest]: Arguments<C>) {
        return super.deleteAndReserve(claims, limit === 0 ? [] : queues, limit, ...rest);
      }
    },
  ),
  mutant(
    'turnover/checks-first',
    'deletes before it has checked what it is to claim',
    class extends ReferenceDriver {
      override async deleteAndReserve<C extends Claim>(...[claims, ...rest]: Arguments<C>): Promise<Turnover<C>> {
        const lost = await this.deleteMany(claims);
        return { lost, jobs: await this.reserveMany(...rest) };
      }
    },
  ),
  mutant(
    'turnover/checks-first',
    'overlooks what is no claim in a turnover',
    class extends ReferenceDriver {
      override async deleteAndReserve<C extends Claim>(...[claims, ...rest]: Arguments<C>) {
        const list: Claims<C> = Array.isArray(claims) ? claims : [];
        return super.deleteAndReserve(
          list.filter((claim) => typeof claim?.id === 'number'),
          ...rest,
        );
      }
    },
  ),
  mutant(
    'turnover/checks-first',
    'makes whole numbers of the limit and the timeout of a turnover that are none',
    class extends ReferenceDriver {
      override async deleteAndReserve<C extends Claim>(
        ...[claims, queues, limit, timeout, worker]: Arguments<C>
      ): Promise<Turnover<C>> {
        return super.deleteAndReserve(claims, queues, careless(limit), careless(timeout), worker);
      }
    },
  ),
  mutant(
    'turnover/no-claims',
    'makes a query of no claims',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        if (claims.length === 0) throw new Error('syntax error at or near ")"');
        return super.turnOver(claims, request);
      }
    },
  ),
  mutant(
    'turnover/no-claims',
    'gives the jobs in the order of their ids, the last one first, where there is nothing to delete',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const { lost, jobs } = await super.turnOver(claims, request);
        return { lost, jobs: claims.length === 0 ? jobs.sort((a, b) => b.id - a.id) : jobs };
      }
    },
  ),
  mutant(
    'turnover/no-queues',
    'makes a query of no queues when it turns over',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        if (request.queues.length === 0) throw new Error('syntax error at or near ")"');
        return super.turnOver(claims, request);
      }
    },
  ),
  mutant(
    'turnover/no-queues',
    'deletes nothing where there is no queue to claim from',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        return request.queues.length === 0 ? { lost: [], jobs: [] } : super.turnOver(claims, request);
      }
    },
  ),
  mutant(
    'turnover/frees-keys',
    'keeps the keys of what a turnover deletes',
    class extends ReferenceDriver {
      readonly #kept = new Map<string, number>();
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        for (const { id } of claims) {
          const key = this.store.jobs.get(id)?.unique;
          if (key != null) this.#kept.set(key, id);
        }
        return super.turnOver(claims, request);
      }
      override async push(job: NewJob): Promise<number> {
        return this.#kept.get(job?.unique ?? '') ?? super.push(job);
      }
    },
  ),
  mutant(
    'turnover/any-size',
    'deletes no more than a thousand jobs in a turnover',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        return super.turnOver(claims.slice(0, 1_000), request);
      }
    },
  ),
  mutant(
    'turnover/race',
    'claims without the guard when it turns over',
    only(
      ['deleteAndReserve'],
      class extends ReferenceDriver {
        protected override isStillFree(): boolean {
          return true;
        }
      },
    ),
  ),
  mutant(
    'turnover/takeover-race',
    'looks at the claims of a turnover first and deletes a round trip later',
    class extends ReferenceDriver {
      protected override async turnOver<C extends Claim>(claims: Claims<C>, request: ClaimRequest) {
        const held = claims.filter((claim) => {
          const row = this.store.jobs.get(claim.id);
          return row !== undefined && this.isClaimOf(claim, row);
        });
        await this.roundTrip();
        await this.roundTrip();
        const lost = claims.filter((claim) => !held.includes(claim) || !this.store.jobs.delete(claim.id));
        return { lost, jobs: (await super.turnOver([], request)).jobs };
      }
    },
  ),
];

type Arguments<C extends Claim> = [
  claims: readonly C[],
  queues: readonly string[],
  limit: number,
  timeout: number,
  worker: string,
];
