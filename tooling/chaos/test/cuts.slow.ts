import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cutEverywhere, operationsOf } from '../src/cuts/run-cuts.js';
import { startStore } from '../src/stores/start-store.js';
import type { ChaosStore } from '../src/stores/store.js';

describe.each(['postgres', 'mariadb', 'redis'] as const)(
  'a connection to %s that is cut at every message of',
  (kind) => {
    let store: ChaosStore;
    beforeAll(async () => {
      store = await startStore(kind);
    });
    afterAll(() => store[Symbol.asyncDispose]());

    it.each(operationsOf(kind).map((operation) => [operation.name, operation] as const))(
      '%s leaves a consistent store, and a caller who was told the truth',
      async (_, operation) => {
        const { cuts, rejected, faults } = await cutEverywhere(store, operation);
        expect(faults).toEqual([]);
        expect(cuts).toBeGreaterThan(1);
        expect(rejected).toBeGreaterThan(0);
      },
    );
  },
);
