import { randomBytes } from 'node:crypto';
import type { Harness, TestStore } from '@q/conformance';
import type { Cluster, Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { RedisDriver, type RedisTemplate } from '../src/index.js';
import { Stored } from './stored.js';

export interface StoreKind {
  /** The application's client, which drivers are built on. Asked for each driver. */
  readonly client: () => RedisTemplate & { disconnect(): void };
  /** The harness's own, by which it looks at what is stored. */
  readonly raw: () => Redis | Cluster;
}

/** What conformance needs to know of a RedisDriver on such clients. Each case has a prefix of its own. */
export function harnessFor(kind: StoreKind): Harness {
  let raw: Redis | Cluster | null = null;
  afterAll(() => raw?.disconnect());
  return {
    abilities: ['batches', 'leases', 'batchLeases', 'wakeups', 'inspection', 'scratch', 'diagnosis'],
    // Within a priority, jobs are reserved in the order in which they were found due; and there are no columns.
    lacks: ['exactOrder', 'columnDefaults'],
    open: async ({ now }) => {
      raw ??= kind.raw();
      return openStore(kind, raw, now);
    },
  };
}

async function openStore(kind: StoreKind, raw: Redis | Cluster, now: () => Date): Promise<TestStore> {
  const prefix = `test_${randomBytes(6).toString('hex')}`;
  const stored = new Stored(raw, prefix);
  const opened: { readonly driver: RedisDriver; readonly client: { disconnect(): void } }[] = [];
  const connect = async () => {
    const client = kind.client();
    const driver = new RedisDriver(client, { prefix, now, onWarning: () => {} });
    opened.push({ driver, client });
    return driver;
  };
  return {
    driver: await connect(),
    connect,
    insertRow: (row) => stored.insert(row),
    jobRows: () => stored.jobs(),
    failedRows: () => stored.failed(),
    close: async () => {
      for (const { driver, client } of opened) {
        await driver.close();
        client.disconnect();
      }
      await stored.wipe();
    },
  };
}
