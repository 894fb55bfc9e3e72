import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { inWords, NO_SELECTION, refused, sameMoment } from '../expectations.js';
import { aJob, aRow, drain, failedErrors, failOne, only, reserveOne, shortTurn } from '../fixtures.js';

export const retryFailed: readonly ConformanceCase[] = [
  aCase({
    id: 'retry-failed/starts-over',
    name: 'A requeued job starts over: due and created now, attempts 0, priority 0, no error, maxAttempts as given',
    rule: 'retry-failed',
    needs: ['reports', 'jobRows'],
    run: async ({ driver, clock, jobRows }) => {
      await failOne(driver, { error: 'no', job: { queue: 'mail', name: 'send', payload: ['é'], priority: 9 } });
      clock.advance(100.9);
      equal(await driver.retryFailed('all', 5), 1, 'how many were requeued');
      const { id, availableAt, createdAt, ...rest } = only(await jobRows(), 'the jobs');
      deepEqual(
        rest,
        {
          queue: 'mail',
          name: 'send',
          payloadJson: '["é"]',
          attempts: 0,
          maxAttempts: 5,
          priority: 0,
          unique: null,
          reservedUntil: null,
          reservedBy: null,
          lastError: '',
        },
        'the row requeued',
      );
      sameMoment(availableAt, clock.second(), 'available_at is now, rounded down');
      sameMoment(createdAt, clock.second(), 'created_at is now, rounded down');
      equal(await driver.failedCount(), 0, 'failedCount');
    },
  }),
  aCase({
    id: 'retry-failed/runs',
    name: 'A requeued job is handed out as a new one: first attempt, not reclaimed',
    rule: 'retry-failed',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      await driver.push(aJob());
      await reserveOne(driver, { timeout: 10 });
      clock.advance(10);
      await driver.fail(await reserveOne(driver), 'no');
      await driver.retryFailed('all', 3);
      const { attempts, reclaimed, maxAttempts } = await reserveOne(driver);
      deepEqual(
        { attempts, reclaimed, maxAttempts },
        { attempts: 1, reclaimed: false, maxAttempts: 3 },
        'the job reserved',
      );
    },
  }),
  aCase({
    id: 'retry-failed/payload-bytes',
    name: 'A requeued job has the payload text it failed with, byte for byte',
    rule: 'payload-bytes',
    needs: ['reports', 'insertRow'],
    run: async ({ driver, clock, insertRow }) => {
      const payloadJson = ' {"b": 1, "a":1.0,\n"n":12345678901234567890, "s": "\\/" } ';
      await insertRow(aRow(clock.now(), { payloadJson }));
      await driver.fail(await reserveOne(driver), 'no');
      await driver.retryFailed('all', 3);
      equal((await reserveOne(driver)).payloadJson, payloadJson, 'the stored text');
    },
  }),
  aCase({
    id: 'retry-failed/one',
    name: 'Requeueing by id requeues that job alone, once; an id that is not there requeues nothing',
    rule: 'retry-failed',
    needs: ['reports'],
    run: async ({ driver, clock }) => {
      for (const name of ['a', 'b', 'c']) {
        await failOne(driver, { error: name, job: { name } });
        clock.advance(1);
      }
      const [, middle] = await driver.failedRows(3);
      const which = { id: middle?.id ?? 0 };
      equal(await driver.retryFailed({ id: which.id + 1_000 }, 3), 0, 'an id that is not there');
      equal(await driver.retryFailed(which, 3), 1, 'the first time');
      equal(await driver.retryFailed(which, 3), 0, 'the second time');
      deepEqual(
        (await drain(driver)).map(({ name }) => name),
        ['b'],
        'the jobs due',
      );
      deepEqual(await failedErrors(driver), ['c', 'a'], 'what is left');
    },
  }),
  aCase({
    id: 'retry-failed/all-there-when-it-starts',
    name: 'Requeueing all requeues those there when it starts: it does not chase the ones that fail meanwhile',
    rule: 'retry-failed',
    needs: ['reports'],
    run: async ({ driver, connect }) => {
      for (let count = 0; count < 20; count += 1) await failOne(driver, { error: 'first' });
      const other = await connect();
      let running = true;
      const failing = async (): Promise<void> => {
        // Bounded: with a driver that chases its own tail the two would keep each other going.
        for (let again = 0; running && again < 60; await shortTurn()) {
          const job = await other.reserve(['default'], 60, 'w');
          if (job !== null && (await other.fail(job, 'again'))) again += 1;
        }
      };
      const retrying = async (): Promise<number> => {
        try {
          return await driver.retryFailed('all', 3);
        } finally {
          running = false;
        }
      };
      const [count] = await Promise.all([retrying(), failing()]);
      equal(count, 20, 'how many were requeued');
    },
  }),
  aCase({
    id: 'retry-failed/race',
    name: 'Two clients that requeue all at once requeue each job once between them',
    rule: 'retry-failed',
    needs: ['reports'],
    run: async ({ driver, connect }) => {
      for (let count = 0; count < 10; count += 1) await failOne(driver, { error: 'no' });
      const other = await connect();
      const [mine, theirs] = await Promise.all([driver.retryFailed('all', 3), other.retryFailed('all', 3)]);
      equal(mine + theirs, 10, 'how many the two say they requeued');
      equal((await drain(driver)).length, 10, 'how many jobs there are');
      equal(await driver.failedCount(), 0, 'failedCount');
    },
  }),
  aCase({
    id: 'retry-failed/no-selection',
    name: 'A selection in no form allowed is refused by retryFailed, and requeues nothing',
    rule: 'selectors',
    needs: ['reports'],
    run: async ({ driver }) => {
      await failOne(driver, { error: 'no' });
      for (const which of [...NO_SELECTION, { before: new Date() }]) {
        const call = () => driver.retryFailed(which as 'all', 3);
        await refused(call, 'invalid_selector', `retryFailed(${inWords(which)})`);
      }
      equal(await driver.failedCount(), 1, 'failedCount');
      equal(await driver.pending(), 0, 'pending');
    },
  }),
];
