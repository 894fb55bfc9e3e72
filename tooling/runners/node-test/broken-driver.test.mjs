import { describe, test } from 'node:test';
import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { dropDatabase, emptyDatabase, MyDriver } from '../dist/my-driver.js';

/** Forgets to look whether the claim still holds. */
class WithoutFence extends MyDriver {
  async delete(claim) {
    await super.delete(claim);
    return true;
  }
}

const harness = {
  abilities: ['leases'],
  lacks: ['insertRow', 'jobRows', 'failedRows'],
  open: async ({ now }) => {
    const url = await emptyDatabase();
    const connect = async () => new WithoutFence(url, { now });
    return { driver: await connect(), connect, close: () => dropDatabase(url) };
  },
};

describeDriver({ describe, test }, 'WithoutFence', harness);
describeModel({ describe, test }, 'WithoutFence', harness, { schedules: { seed: 1 }, sequences: { seed: 1 } });
