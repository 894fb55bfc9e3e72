import { deepEqual, equal, match } from 'node:assert/strict';
import type { Scratch } from '@q/core';
import { aCase, type ConformanceCase } from '../case.js';
import { aJob, reserveNone, reserveOne } from '../fixtures.js';

export const schemaAndScratch: readonly ConformanceCase[] = [
  aCase({
    id: 'schema/text',
    name: 'The schema is SQL that creates two tables, opens with a comment, and ends with how to prune the second',
    rule: 'schema',
    needs: ['schema'],
    run: async ({ driver }) => {
      const sql = driver.schema();
      equal(sql.match(/create\s+table/gi)?.length, 2, 'how many tables it creates');
      match(sql.trimStart(), /^(--|\/\*)/, 'it has to open with a comment');
      match(sql.slice(sql.toLowerCase().lastIndexOf('create ')), /q forget --before=YYYY-MM-DD/, 'its last words');
    },
  }),
  aCase({
    id: 'scratch/empty-twin',
    name: 'A scratch store is empty, runs a job, and neither sees the jobs of its twin nor shows its own',
    rule: 'scratch',
    needs: ['scratch'],
    run: async ({ driver, clock }) => {
      const id = await driver.push(aJob());
      const scratch = await driver.scratch({ now: clock.now });
      equal(await scratch.driver.pending(), 0, 'pending in the scratch store');
      const inside = await scratch.driver.push(aJob({ queue: 'scratch', delay: 60 }));
      equal(await driver.pending('scratch'), 0, 'pending of its queue in the other store');
      await reserveNone(scratch.driver, 'before the delay is over, by the clock given', ['scratch']);
      clock.advance(60);
      const job = await reserveOne(scratch.driver, { queue: 'scratch' });
      deepEqual([job.id, await scratch.driver.delete(job)], [inside, true], 'the job run in the scratch store');
      await scratch[Symbol.asyncDispose]();
      equal((await reserveOne(driver)).id, id, 'the job of its twin, when the scratch store is gone');
    },
  }),
  aCase({
    id: 'scratch/two-at-once',
    name: 'Two scratch stores at once are two stores, and disposing of one leaves the other',
    rule: 'scratch',
    needs: ['scratch'],
    run: async ({ driver, clock }) => {
      const [first, second]: Scratch[] = [
        await driver.scratch({ now: clock.now }),
        await driver.scratch({ now: clock.now }),
      ];
      await first?.driver.push(aJob());
      equal(await second?.driver.pending(), 0, 'pending in the second');
      await second?.driver.push(aJob());
      await first?.[Symbol.asyncDispose]();
      equal(await second?.driver.pending(), 1, 'pending in the second, when the first is gone');
      await second?.[Symbol.asyncDispose]();
    },
  }),
  aCase({
    id: 'scratch/second-client',
    name: 'A second client of a scratch store sees the jobs of the first',
    rule: 'scratch',
    needs: ['scratch'],
    run: async ({ driver, clock }) => {
      const scratch = await driver.scratch({ now: clock.now });
      const id = await scratch.driver.push(aJob());
      equal((await reserveOne(await scratch.connect())).id, id, 'the job that the second client reserved');
      await reserveNone(scratch.driver, 'while the second client holds the job');
      await scratch[Symbol.asyncDispose]();
    },
  }),
];
