import { deepEqual, equal } from 'node:assert/strict';
import { aCase, type ConformanceCase, type Context } from '../case.js';
import { aJob, aRow, ids, only, reserveNone, reserveOne, WORKER } from '../fixtures.js';

const UNDECODABLE = 'Payload is not valid JSON, so no handler could be given it';

/** Texts that hold neither an object nor an array. */
const BROKEN = {
  empty: '',
  nonsense: 'nonsense',
  'cut-off': '{"a":',
  'single-quotes': "{'a':1}",
  number: '42',
  text: '"text"',
  boolean: 'true',
  null: 'null',
  'one-too-many': '{}{}',
  'php-object': 'O:8:"stdClass":0:{}',
} as const;

type Breaking = Context<'insertRow'>;

export const undecodable: readonly ConformanceCase[] = [
  ...Object.entries(BROKEN).map(([id, payloadJson]) =>
    aCase({
      id: `undecodable/${id}`,
      name: `The stored payload ${JSON.stringify(payloadJson)} is failed at once, and the reserve goes on`,
      rule: 'undecodable',
      needs: ['insertRow', 'failedRows'],
      run: async (context) => {
        const { driver, failedRows } = context;
        await insertBroken(context, { payloadJson, priority: 1, attempts: 2 });
        const good = await driver.push(aJob());
        equal((await reserveOne(driver)).id, good, 'the job reserved');
        const { payloadJson: kept, attempts, error } = only(await failedRows());
        deepEqual({ kept, attempts, error }, { kept: payloadJson, attempts: 3, error: UNDECODABLE }, 'the failed row');
        equal(await driver.pending(), 0, 'pending');
      },
    }),
  ),
  aCase({
    id: 'undecodable/alone-is-null',
    name: 'A reserve that finds a broken payload and nothing else gives null, at once and later',
    rule: 'undecodable',
    needs: ['insertRow', 'failedRows'],
    run: async (context) => {
      await insertBroken(context);
      await reserveNone(context.driver, 'with a broken row alone');
      context.clock.advance(86_400);
      await reserveNone(context.driver, 'a day later');
      equal((await context.failedRows()).length, 1, 'rows in the failed store');
    },
  }),
  aCase({
    id: 'undecodable/expired-claim',
    name: 'A broken payload whose claim has expired is failed when it is taken over',
    rule: 'undecodable',
    needs: ['insertRow', 'failedRows'],
    run: async (context) => {
      const { driver, clock, failedRows } = context;
      await insertBroken(context, { attempts: 1, reservedUntil: clock.second(-5), reservedBy: 'gone:1' });
      await reserveNone(driver, 'with a broken row alone');
      equal(only(await failedRows()).attempts, 2, 'attempts');
    },
  }),
  aCase({
    id: 'undecodable/frees-its-key',
    name: 'A broken payload that is failed frees its unique key',
    rule: 'unique-freed',
    needs: ['insertRow'],
    run: async (context) => {
      await insertBroken(context, { unique: 'k' });
      await reserveNone(context.driver, 'with a broken row alone');
      const id = await context.driver.push(aJob({ unique: 'k' }));
      equal((await reserveOne(context.driver)).id, id, 'the job pushed under the same key');
    },
  }),
  aCase({
    id: 'undecodable/four-rounds-are-spare',
    name: 'Four broken payloads in a row are stepped over in one reserve',
    rule: 'claim-rounds',
    needs: ['insertRow'],
    run: async (context) => {
      for (let count = 0; count < 4; count += 1) await insertBroken(context, { priority: 1 });
      const id = await context.driver.push(aJob());
      equal((await reserveOne(context.driver)).id, id, 'the id reserved');
    },
  }),
  aCase({
    id: 'undecodable/five-rounds-end-a-queue',
    name: 'Five broken payloads in a row end a reserve; the next one goes on behind them',
    rule: 'claim-rounds',
    needs: ['insertRow', 'failedRows'],
    run: async (context) => {
      const { driver, failedRows } = context;
      for (let count = 0; count < 5; count += 1) await insertBroken(context, { priority: 1 });
      const id = await driver.push(aJob());
      await reserveNone(driver, 'with five broken rows ahead');
      equal((await failedRows()).length, 5, 'rows in the failed store');
      equal((await reserveOne(driver)).id, id, 'the id reserved by the next one');
    },
  }),
  aCase({
    id: 'undecodable/rounds-are-per-queue',
    name: 'Five broken payloads in one queue do not keep a reserve from the next queue, which has five rounds of its own',
    rule: 'claim-rounds',
    needs: ['insertRow'],
    run: async (context) => {
      const { driver } = context;
      for (let count = 0; count < 5; count += 1) await insertBroken(context, { queue: 'a', priority: 1 });
      for (let count = 0; count < 3; count += 1) await insertBroken(context, { queue: 'b', priority: 1 });
      const id = await driver.push(aJob({ queue: 'b' }));
      equal((await driver.reserve(['a', 'b'], 60, WORKER))?.id, id, 'the job reserved');
    },
  }),
  aCase({
    id: 'undecodable/deep-nesting',
    name: 'A stored payload 30,000 levels deep does no harm: the job is handed out or failed',
    rule: 'undecodable',
    needs: ['insertRow', 'failedRows'],
    run: async (context) => {
      const { driver, failedRows } = context;
      await insertBroken(context, { payloadJson: '['.repeat(30_000) + ']'.repeat(30_000) });
      const job = await driver.reserve(['default'], 60, WORKER);
      equal((await failedRows()).length, job === null ? 1 : 0, 'rows in the failed store');
    },
  }),
  aCase({
    id: 'undecodable/in-a-batch',
    name: 'Broken payloads among good ones are failed by reserveMany, which gives all the good ones it was asked for',
    rule: 'claim-rounds',
    needs: ['insertRow', 'failedRows', 'batches'],
    run: async (context) => {
      const { driver, failedRows } = context;
      const good: number[] = [];
      for (let priority = 12; priority > 0; priority -= 2) {
        good.push(await driver.push(aJob({ priority })));
        await insertBroken(context, { priority: priority - 1 });
      }
      good.push(await driver.push(aJob()));
      deepEqual(ids(await driver.reserveMany(['default'], 7, 60, WORKER)), good, 'the jobs reserved');
      equal((await failedRows()).length, 6, 'rows in the failed store');
    },
  }),
];

async function insertBroken({ insertRow, clock }: Breaking, what: Parameters<typeof aRow>[1] = {}): Promise<number> {
  return insertRow(aRow(clock.now(), { queue: 'default', payloadJson: '{broken}', ...what }));
}
