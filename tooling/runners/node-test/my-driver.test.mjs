import { describe, test } from 'node:test';
import { describeDriver } from '@q/conformance';
import { describeModel } from '@q/conformance/model';
import { dropDatabase, emptyDatabase, MyDriver } from '../dist/my-driver.js';

const harness = {
  abilities: ['leases'],
  lacks: ['insertRow', 'jobRows', 'failedRows'],
  open: async ({ now }) => {
    const url = await emptyDatabase();
    const connect = async () => new MyDriver(url, { now });
    return { driver: await connect(), connect, close: () => dropDatabase(url) };
  },
};

describeDriver({ describe, test }, 'MyDriver', harness);
describeModel({ describe, test }, 'MyDriver', harness);
