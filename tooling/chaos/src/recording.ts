import { type Claim, hasTurnover, type InTransaction, type QueueTurnover, type ReservedJob } from '@q/core';
import type { Closing, Ledger } from './ledger.js';
import { monotonicMs } from './ledger.js';
import type { ChaosDriver } from './stores/client.js';

/** The driver, with every claim and every end of one written down: before the call what it is to do, after it the answer. */
export function recording<D extends ChaosDriver>(driver: D, ledger: Ledger): D {
  const methods = {
    ...reserves(driver, ledger),
    ...renewals(driver, ledger),
    ...ends(driver, ledger),
    ...turnover(driver, ledger),
  };
  return new Proxy(driver, {
    get(target, key) {
      if (Object.hasOwn(methods, key)) return methods[key as keyof typeof methods];
      if (key === 'within') return (tx: never) => recordingWithin(withinOf(target, tx), ledger);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    has: (target, key) => Reflect.has(target, key),
  });
}

function reserves(driver: ChaosDriver, ledger: Ledger) {
  return {
    async reserve(queues: readonly string[], timeout: number, worker: string) {
      const askedMs = monotonicMs();
      const job = await driver.reserve(queues, timeout, worker);
      claimed(ledger, job === null ? [] : [job], askedMs, timeout);
      return job;
    },
    async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
      const askedMs = monotonicMs();
      const jobs = await driver.reserveMany(queues, limit, timeout, worker);
      claimed(ledger, jobs, askedMs, timeout);
      return jobs;
    },
  };
}

function claimed(ledger: Ledger, jobs: readonly ReservedJob[], askedMs: number, seconds: number): void {
  for (const { id, attempts, payload } of jobs) {
    ledger.write({ what: 'claimed', push: pushOf(payload), id, attempts, askedMs, seconds });
  }
}

function renewals(driver: ChaosDriver, ledger: Ledger) {
  const extended = ({ id, attempts }: Claim, askedMs: number, seconds: number) =>
    ledger.write({ what: 'extended', id, attempts, askedMs, seconds });
  return {
    async extend(claim: Claim, timeout: number) {
      const askedMs = monotonicMs();
      const acted = await driver.extend(claim, timeout);
      if (acted) extended(claim, askedMs, timeout);
      return acted;
    },
    async extendMany<C extends Claim>(claims: readonly C[], timeout: number) {
      const askedMs = monotonicMs();
      const lost = await driver.extendMany(claims, timeout);
      for (const claim of claims) if (!lost.includes(claim)) extended(claim, askedMs, timeout);
      return lost;
    },
  };
}

function ends(driver: ChaosDriver, ledger: Ledger) {
  const ending = async (claim: Claim, by: Closing, act: () => Promise<boolean>) => {
    closing(ledger, claim, by);
    const acted = await act();
    closed(ledger, claim, by, acted);
    return acted;
  };
  return {
    delete: (claim: Claim) => ending(claim, 'delete', () => driver.delete(claim)),
    release: (claim: Claim, delay: number, error: string) =>
      ending(claim, 'release', () => driver.release(claim, delay, error)),
    fail: (claim: Claim, error: string) => ending(claim, 'fail', () => driver.fail(claim, error)),
    async deleteMany<C extends Claim>(claims: readonly C[]) {
      for (const claim of claims) closing(ledger, claim, 'delete');
      const lost = await driver.deleteMany(claims);
      for (const claim of claims) closed(ledger, claim, 'delete', !lost.includes(claim));
      return lost;
    },
  };
}

function closing(ledger: Ledger, { id, attempts }: Claim, by: Closing): void {
  ledger.write({ what: 'closing', id, attempts, by });
}

function closed(ledger: Ledger, { id, attempts }: Claim, by: Closing, acted: boolean): void {
  ledger.write({ what: 'closed', id, attempts, by, acted });
}

/** Of a driver that deletes and claims in one call: what it claims there would otherwise start without a claim. */
function turnover(driver: ChaosDriver, ledger: Ledger): Partial<QueueTurnover> {
  if (!hasTurnover(driver)) return {};
  return {
    async deleteAndReserve(claims, queues, limit, timeout, worker) {
      for (const claim of claims) closing(ledger, claim, 'delete');
      const askedMs = monotonicMs();
      const answer = await driver.deleteAndReserve(claims, queues, limit, timeout, worker);
      for (const claim of claims) closed(ledger, claim, 'delete', !answer.lost.includes(claim));
      claimed(ledger, answer.jobs, askedMs, timeout);
      return answer;
    },
  };
}

function recordingWithin(jobs: InTransaction, ledger: Ledger): InTransaction {
  return {
    push: (job) => jobs.push(job),
    pushMany: (many) => jobs.pushMany(many),
    delete(claim) {
      const { id, attempts } = claim;
      ledger.write({ what: 'closing', id, attempts, by: 'complete' });
      return jobs.delete(claim);
    },
  };
}

function withinOf(driver: ChaosDriver, tx: never): InTransaction {
  // The cast: asked only of drivers that have transactions.
  return (driver as ChaosDriver & { within(tx: never): InTransaction }).within(tx);
}

/** The push that a payload is of. */
function pushOf(payload: object): string {
  return 'push' in payload && typeof payload.push === 'string' ? payload.push : '';
}
