import type { Harness } from '@q/conformance';
import type { QueueDriver, ReservedJob } from '@q/core';
import { placeOf } from '../src/keys.js';

/**
 * For the model, which knows that jobs of one priority may be handed out in any order, but not that those of one batch
 * may: within a queue and a priority they are told to it by id. Which jobs are in a batch is left as it is.
 */
export function inIdOrder(original: Harness): Harness {
  return {
    ...original,
    open: async (options) => {
      const store = await original.open(options);
      return { ...store, driver: sorting(store.driver), connect: async () => sorting(await store.connect()) };
    },
  };
}

function sorting(driver: QueueDriver): QueueDriver {
  return new Proxy(driver, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'reserveMany') return value.bind(target);
      return async (...args: unknown[]) => sorted(await value.apply(target, args));
    },
  });
}

function sorted(jobs: readonly ReservedJob[]): ReservedJob[] {
  return jobs.toSorted((a, b) => (levelOf(a) === levelOf(b) ? a.id - b.id : jobs.indexOf(a) - jobs.indexOf(b)));
}

function levelOf({ handle }: ReservedJob): string {
  const place = placeOf(handle);
  return `${place?.priority}:${place?.queue}`;
}
