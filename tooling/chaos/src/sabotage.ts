import type { Claim, NewJob, QueueDriver } from '@q/core';
import type { ChaosDriver, Client } from './stores/client.js';

export type Sabotage = keyof typeof SABOTAGE;

// Long enough that a key is asked for again while its holder waits.
const WAITS_SECONDS = 5;
const LATER_MS = 200;

/** Clients that break one promise each: the checker has to notice every one of them in a real storm. */
export const SABOTAGE: {
  readonly [name in 'loses' | 'leaks' | 'overlaps' | 'restarts' | 'doubles' | 'forgets']: (client: Client) => Client;
} = {
  /** Deletes every fifth job that it is to hand out. */
  loses: (client) =>
    withDriver(client, {
      async reserve(queues, timeout, worker) {
        const job = await client.driver.reserve(queues, timeout, worker);
        if (job === null || job.id % 5 !== 0) return job;
        await client.driver.delete(job);
        return null;
      },
    }),
  /** Pushes what is pushed in a transaction once more, a little later and outside of it. */
  leaks: (client) =>
    withPushes(client, async (push, job) => {
      setTimeout(() => void client.driver.push({ ...job, unique: null }).catch(() => {}), LATER_MS);
      return push(job);
    }),
  /** Makes claims that have expired already. */
  overlaps: (client) =>
    withDriver(client, { reserve: (queues, _, worker) => client.driver.reserve(queues, 0, worker) }),
  /** Makes such claims, and keeps quiet about taking them over. */
  restarts: (client) =>
    withDriver(client, {
      async reserve(queues, _, worker) {
        const job = await client.driver.reserve(queues, 0, worker);
        return job === null ? null : { ...job, reclaimed: false };
      },
    }),
  /** Drops the unique keys, and leaves the jobs waiting for a while. */
  doubles: (client) => withPushes(client, (push, job) => push({ ...job, unique: null, delay: WAITS_SECONDS })),
  /** Says that it has failed a job, and deletes it. */
  forgets: (client) => withDriver(client, { fail: (claim) => client.driver.delete(claim) }),
};

type Push = (job: NewJob) => Promise<number>;

function withPushes(client: Client, instead: (push: Push, job: NewJob) => Promise<number>): Client {
  const { driver, transactions } = client;
  const sabotaged = withDriver(client, { push: (job) => instead((each) => driver.push(each), job) });
  if (transactions === null) return sabotaged;
  return {
    ...sabotaged,
    transactions: {
      async begin() {
        const open = await transactions.begin();
        const { jobs } = open;
        const push: Push = (job) => instead((each) => jobs.push(each), job);
        return {
          ...open,
          jobs: { push, pushMany: (many) => jobs.pushMany(many), delete: (claim) => jobs.delete(claim) },
        };
      },
    },
  };
}

/**
 * The client with some calls of its driver replaced; batches go by way of the single calls, so that they are, too. What
 * deletes and claims at once is hidden: the worker then calls one after the other.
 */
export function withDriver(client: Client, overrides: Partial<QueueDriver>): Client {
  const { driver } = client;
  const single = <K extends 'push' | 'reserve' | 'delete'>(key: K): QueueDriver[K] =>
    overrides[key] ?? (driver[key].bind(driver) as QueueDriver[K]);
  const all: Partial<ChaosDriver> = {
    ...overrides,
    pushMany: (jobs) => Promise.all(jobs.map(single('push'))),
    async reserveMany(queues, _, timeout, worker) {
      const job = await single('reserve')(queues, timeout, worker);
      return job === null ? [] : [job];
    },
    async deleteMany<C extends Claim>(claims: readonly C[]) {
      const acted = await Promise.all(claims.map(single('delete')));
      return claims.filter((_, index) => !acted[index]);
    },
  };
  const sabotaged = new Proxy(driver, {
    get(target, key) {
      if (key === 'deleteAndReserve') return undefined;
      if (Object.hasOwn(all, key)) return all[key as keyof ChaosDriver];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...client, driver: sabotaged };
}
