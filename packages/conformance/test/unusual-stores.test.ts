import { setImmediate } from 'node:timers/promises';
import type { EncodedJob } from '@q/core/driver-kit';
import { expect, test } from 'vitest';
import { type Harness, runConformance, type TestStore } from '../src/index.js';
import { ReferenceDriver } from './reference-driver.js';
import { referenceHarness } from './reference-harness.js';
import type { Row } from './reference-store.js';

const TOP = 1_000_000_000;

/** Within a priority it takes what was pushed last, as a stack does. */
class LastFirst extends ReferenceDriver {
  protected override order(a: Row, b: Row): number {
    return b.priority - a.priority || b.id - a.id;
  }
}

/** Takes its time over everything. */
class FarAway extends ReferenceDriver {
  protected override async roundTrip(): Promise<void> {
    for (let hop = 0; hop < 5; hop += 1) await setImmediate();
  }
}

/** Knows a failed job by the id that the job had. */
class OneIdForLife extends ReferenceDriver {
  protected override moveToFailed(row: Row, error: string): void {
    const { id, queue, name, payloadJson, attempts } = row;
    this.store.failed.set(id, { id, queue, name, payloadJson, attempts, error, failedAt: this.seconds() });
    this.store.jobs.delete(id);
  }
}

/** Numbers its jobs, and its failures, from above. */
class FallingIds extends ReferenceDriver {
  protected override newRow(job: EncodedJob): Row {
    const row = super.newRow(job);
    return { ...row, id: TOP - row.id };
  }

  protected override moveToFailed(row: Row, error: string): void {
    const { queue, name, payloadJson, attempts } = row;
    const id = TOP - this.store.nextFailedId();
    this.store.failed.set(id, { id, queue, name, payloadJson, attempts, error, failedAt: this.seconds() });
    this.store.jobs.delete(row.id);
  }
}

/** A store that one process alone can open: the second client is the first. */
const SINGLE = withStore(referenceHarness(), (store) => ({ ...store, connect: async () => store.driver }));

test.each([
  ['takes jobs of one priority in any order', { ...referenceHarness(LastFirst), lacks: ['exactOrder'] }],
  ['is far away', referenceHarness(FarAway)],
  ['knows a failed job by the id that the job had', referenceHarness(OneIdForLife)],
  ['numbers its jobs from above', referenceHarness(FallingIds)],
  ['is opened by one client alone', SINGLE],
] as const satisfies (readonly [string, Harness])[])(
  'No case asks more of a right driver than the contract does where the store %s',
  async (_, harness) => {
    const results = await runConformance(harness);
    expect(results.flatMap((result) => (result.outcome === 'failed' ? [result.error.message] : []))).toEqual([]);
  },
  120_000,
);

function withStore(harness: Harness, change: (store: TestStore) => TestStore): Harness {
  return { ...harness, open: async (options) => change(await harness.open(options)) };
}
