import assert from 'node:assert/strict';
import {
  defineHandlers,
  type GuardMode,
  handler,
  isQueueError,
  type Job,
  Queue,
  Worker,
  type WorkSource,
} from '@q/core';
import type { Application, Inside } from './application.js';
import type { Driver, Store } from './stores.js';

interface Subject<Tx> {
  readonly app: Application<Tx>;
  readonly store: Store<Tx>;
}

type Payload = { readonly id: number };

/** What every cell of the matrix has to do. Each begins with empty tables, and throws where it finds something else. */
export const SCENARIOS = {
  commit: commits,
  rollback: rollsBack,
  'duplicate key': survivesDuplicate,
  savepoint: rollsBackSavepoint,
  'callback throws': rollsBackOnError,
  'complete, commit': completes,
  'complete, rollback': completesNot,
  'not a transaction': refusesTheConnection,
  'push guard': guards,
} as const;

/** What a library could take for something of its own. */
const AWKWARD = { id: 1, text: `?, $1, :name, @name, '"\`\\, 🔑, \u0001, 2026-01-01T00:00:00.000Z` };

export type Scenario = keyof typeof SCENARIOS;

/** The row and the jobs are there together, and nobody sees one of them before. */
async function commits<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  const ids: number[] = [];
  await app.transaction(async (inside) => {
    await inside.note('a');
    const within = queue.within(await inside.tx());
    ids.push(await within.push('greet', AWKWARD, { unique: 'ключ 🔑' }));
    ids.push(...(await within.pushMany(['greet', 'greet'].map((name) => ({ name, payload: { id: 2 } })))));
    assert.deepEqual([await store.notes(), await store.driver.pending()], [[], 0]);
  });
  assert.deepEqual([await store.notes(), await store.driver.pending()], [['a'], 3]);
  for (const id of ids) assert.equal((await store.driver.find(id))?.id, id);
  assert.equal((await store.driver.find(ids[0] ?? 0))?.payloadJson, JSON.stringify(AWKWARD));
}

async function rollsBack<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  assert(app.rolledBack !== null, 'the library has a call that rolls back');
  await app.rolledBack(async (inside) => {
    await inside.note('a');
    await queue.within(await inside.tx()).push('greet', { id: 1 });
  });
  assert.deepEqual([await store.notes(), await store.driver.pending()], [[], 0]);
}

/** A key that is held gives its holder, bad input is refused, and the transaction is none the worse for either. */
async function survivesDuplicate<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  const holder = await queue.push('greet', { id: 1 }, { unique: 'k' });
  await app.transaction(async (inside) => {
    await inside.note('a');
    const within = queue.within(await inside.tx());
    assert.equal(await within.push('greet', { id: 2 }, { unique: 'k' }), holder);
    await assert.rejects(within.push('greet', { id: 1n }), (error) => isQueueError(error, 'payload_not_json'));
    assert.equal((await within.pushMany([{ name: 'greet', payload: { id: 3 }, unique: 'k' }]))[0], holder);
    await inside.note('b');
  });
  assert.deepEqual([await store.notes(), await store.driver.pending()], [['a', 'b'], 1]);
}

async function rollsBackSavepoint<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  const refusal = new Error('the inner one is given up');
  const kept: number[] = [];
  const work = async (inside: Inside<Tx>) => {
    await inside.note('outer');
    kept.push(await queue.within(await inside.tx()).push('greet', { id: 1 }));
    const inner = inside.nested(async (nested) => {
      await nested.note('inner');
      await queue.within(await nested.tx()).push('greet', { id: 2 });
      throw refusal;
    });
    await assert.rejects(inner, (error) => error === refusal);
    await inside.note('outer, after');
    kept.push(await queue.within(await inside.tx()).push('greet', { id: 3 }));
  };
  await (app.nesting ?? app.transaction)(work);
  assert.deepEqual([await store.notes(), await store.driver.pending()], [['outer', 'outer, after'], 2]);
  for (const id of kept) assert.equal((await store.driver.find(id))?.id, id);
}

async function rollsBackOnError<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  const refusal = new Error('the callback gives up');
  const transaction = app.transaction(async (inside) => {
    await inside.note('a');
    await queue.within(await inside.tx()).push('greet', { id: 1 });
    throw refusal;
  });
  await assert.rejects(transaction, (error) => error === refusal);
  assert.deepEqual([await store.notes(), await store.driver.pending()], [[], 0]);
}

async function completes<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const runs: number[] = [];
  const queue = queueOn<Tx>(store.driver, async (_, job) => {
    runs.push(job.attempts);
    await app.transaction(async (inside) => {
      await inside.note('a');
      await job.complete(await inside.tx());
    });
  });
  await queue.push('greet', { id: 1 });
  await runAll(queue);
  assert.deepEqual([await store.notes(), runs, await rowsOf(store.driver)], [['a'], [1], [0, 0]]);
}

/** What was completed in a transaction that did not commit is tried again. */
async function completesNot<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const runs: number[] = [];
  const queue = queueOn<Tx>(store.driver, async (_, job) => {
    runs.push(job.attempts);
    await app.transaction(async (inside) => {
      await inside.note(`attempt ${job.attempts}`);
      await job.complete(await inside.tx());
      if (job.attempts === 1) throw new Error('after completing');
    });
  });
  const id = await queue.push('greet', { id: 1 });
  const worker = new Worker({ queue });
  await worker.runNext();
  const left = await store.driver.find(id);
  assert.deepEqual([await store.notes(), left?.state, left?.attempts], [[], 'pending', 1]);
  assert.match(left?.lastError ?? '', /after completing/);
  await worker.runNext();
  assert.deepEqual([await store.notes(), runs, await rowsOf(store.driver)], [['attempt 2'], [1, 2], [0, 0]]);
}

/** Whoever passes what he has his connections from, instead of the transaction, is told so before anything is stored. */
async function refusesTheConnection<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver);
  const push = async () => queue.within(await app.mistaken()).push('greet', { id: 1 });
  await assert.rejects(push(), (error) => isQueueError(error, 'invalid_transaction'));
  assert.deepEqual(await rowsOf(store.driver), [0, 0]);
}

/** A plain push beside the transaction is refused, and one after it is not. */
async function guards<Tx>({ app, store }: Subject<Tx>): Promise<void> {
  const queue = queueOn(store.driver, undefined, 'error');
  await app.transaction(async (inside) => {
    await inside.note('a');
    await queue.within(await inside.tx()).push('greet', { id: 1 });
    await assert.rejects(queue.push('greet', { id: 2 }), (error) => isQueueError(error, 'transaction_open'));
    await inside.note('b');
  });
  await queue.push('greet', { id: 3 });
  assert.deepEqual([await store.notes(), await store.driver.pending()], [['a', 'b'], 2]);
}

interface TestQueue<Tx> {
  push(name: string, payload: object, options?: { readonly unique: string }): Promise<number>;
  within(tx: Tx): {
    push(name: string, payload: object, options?: { readonly unique: string }): Promise<number>;
    pushMany(
      items: readonly { readonly name: string; readonly payload: object; readonly unique?: string }[],
    ): Promise<number[]>;
  };
}

function queueOn<Tx>(
  driver: Driver<Tx>,
  greet: (payload: Payload, job: Job<Payload, Tx>) => unknown = () => {},
  guard?: GuardMode,
): TestQueue<Tx> & WorkSource {
  const handlers = defineHandlers({ greet: handler(greet) });
  // The cast: which methods a Queue has follows from its driver's type, which is a parameter here.
  return new Queue({ driver, handlers: handlers as never, backoff: 0, guard }) as never;
}

async function runAll(queue: WorkSource): Promise<void> {
  await new Worker({ queue, stopWhenEmpty: true }).run();
}

/** How many rows the two tables have. */
async function rowsOf(driver: Driver<never>): Promise<[jobs: number, failed: number]> {
  const total = (await driver.stats()).reduce((sum, { total }) => sum + total, 0);
  return [total, await driver.failedCount()];
}
