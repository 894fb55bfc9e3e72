import type { Claim, ReservedJob } from '@q/core';
import type { ChaosDriver } from './stores/client.js';

export type Sabotage = keyof typeof SABOTAGE;

type Overrides = Partial<ChaosDriver>;

/** Drivers that break one promise each: the checker has to notice every one of them in a real storm. */
export const SABOTAGE = {
  /** Deletes a job as soon as it is claimed: what its handler then throws has nothing to be retried. */
  loses: (driver: ChaosDriver) =>
    replacing(driver, {
      reserve: async (queues, timeout, worker) => {
        const job = await driver.reserve(queues, timeout, worker);
        if (job !== null && job.id % 5 === 0) await driver.delete(job);
        return job?.id !== undefined && job.id % 5 === 0 ? null : job;
      },
    }),
  /** Makes claims that have expired already, and says that they have not. */
  overlaps: (driver: ChaosDriver) =>
    replacing(driver, { reserve: (queues, _, worker) => driver.reserve(queues, 0, worker) }),
  /** Says of every job that it has attempts left, and that nobody died of it. */
  restarts: (driver: ChaosDriver) =>
    replacing(driver, {
      reserve: async (queues, timeout, worker) => {
        const job = await driver.reserve(queues, timeout, worker);
        return job === null ? null : { ...job, reclaimed: false };
      },
    }),
  /** Says that it has failed a job, and deletes it. */
  forgets: (driver: ChaosDriver) => replacing(driver, { fail: (claim) => driver.delete(claim) }),
} as const;

function replacing(driver: ChaosDriver, overrides: Overrides): ChaosDriver {
  const one: Overrides = {
    ...overrides,
    // By way of the single calls, so that what is replaced there is replaced here.
    reserveMany: async (queues, _, timeout, worker) => {
      const job = await (overrides.reserve ?? driver.reserve.bind(driver))(queues, timeout, worker);
      return job === null ? [] : ([job] satisfies ReservedJob[]);
    },
    deleteMany: async <C extends Claim>(claims: readonly C[]) => {
      const acted = await Promise.all(claims.map((claim) => (overrides.delete ?? driver.delete.bind(driver))(claim)));
      return claims.filter((_, index) => !acted[index]);
    },
  };
  return new Proxy(driver, {
    get(target, key) {
      if (Object.hasOwn(one, key)) return one[key as keyof Overrides];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
