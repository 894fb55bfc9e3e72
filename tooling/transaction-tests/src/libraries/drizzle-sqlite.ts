import assert from 'node:assert/strict';
import { defineHandlers, handler, isQueueError, Queue } from '@q/core';
import { type SqliteDatabase, SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { sql, TransactionRollbackError } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Application, Inside } from '../application.js';
import { SCENARIOS, type Scenario } from '../scenarios.js';
import type { Store } from '../stores.js';

/** What is not done in Drizzle's own transactions. */
export const BY_HAND = ['complete, commit', 'complete, rollback', 'not a transaction', 'push guard'] as const;

type SyncScenarios = Readonly<
  Record<Exclude<Scenario, (typeof BY_HAND)[number]>, (store: Store<SqliteDatabase>) => Promise<void>>
>;

const notes = sqliteTable('notes', { id: integer().primaryKey(), text: text().notNull() });

export interface DrizzleOnSqlite extends AsyncDisposable {
  readonly scenarios: Readonly<Record<Scenario, (store: Store<SqliteDatabase>) => Promise<void>>>;
}

/**
 * Drizzle's transactions on better-sqlite3 are synchronous: nothing in one can be awaited, so jobs are pushed by `pushSync`
 * on the same connection. To complete a job is asynchronous, and is done in a transaction begun by hand.
 */
export async function onSqlite(file: string): Promise<DrizzleOnSqlite> {
  const db = drizzle(new Database(file));
  const driver = new SqliteDriver(db.$client);
  const queue = new Queue({ driver, handlers: defineHandlers({ greet: handler((_: { readonly id: number }) => {}) }) });
  const inTransaction: SyncScenarios = {
    async commit(store) {
      db.transaction((tx) => {
        tx.insert(notes).values({ text: 'a' }).run();
        queue.pushSync('greet', { id: 1 });
      });
      assert.deepEqual(await found(store), [['a'], 1]);
    },
    async rollback(store) {
      const transaction = () =>
        db.transaction((tx) => {
          tx.insert(notes).values({ text: 'a' }).run();
          queue.pushSync('greet', { id: 1 });
          tx.rollback();
        });
      assert.throws(transaction, TransactionRollbackError);
      assert.deepEqual(await found(store), [[], 0]);
    },
    async 'duplicate key'(store) {
      const holder = await queue.push('greet', { id: 1 }, { unique: 'k' });
      db.transaction((tx) => {
        tx.insert(notes).values({ text: 'a' }).run();
        assert.equal(queue.pushSync('greet', { id: 2 }, { unique: 'k' }), holder);
        assert.throws(
          () => queue.pushSync('greet', { id: 1n } as never),
          (error) => isQueueError(error, 'payload_not_json'),
        );
        tx.insert(notes).values({ text: 'b' }).run();
      });
      assert.deepEqual(await found(store), [['a', 'b'], 1]);
    },
    async savepoint(store) {
      const refusal = new Error('the inner one is given up');
      db.transaction((tx) => {
        tx.insert(notes).values({ text: 'outer' }).run();
        queue.pushSync('greet', { id: 1 });
        const inner = () =>
          tx.transaction((nested) => {
            nested.insert(notes).values({ text: 'inner' }).run();
            queue.pushSync('greet', { id: 2 });
            throw refusal;
          });
        assert.throws(inner, (error) => error === refusal);
        queue.pushSync('greet', { id: 3 });
      });
      assert.deepEqual(await found(store), [['outer'], 2]);
    },
    async 'callback throws'(store) {
      const refusal = new Error('the callback gives up');
      const transaction = () =>
        db.transaction((tx) => {
          tx.insert(notes).values({ text: 'a' }).run();
          queue.pushSync('greet', { id: 1 });
          throw refusal;
        });
      assert.throws(transaction, (error) => error === refusal);
      assert.deepEqual(await found(store), [[], 0]);
    },
  };
  const inside: Inside<SqliteDatabase> = {
    note: async (note) => db.insert(notes).values({ text: note }),
    tx: () => db.$client,
    nested: async () => {
      throw new Error('nested transactions are those of Drizzle');
    },
  };
  const byHand: Application<SqliteDatabase> = {
    async transaction(work) {
      db.run(sql`BEGIN IMMEDIATE`);
      try {
        await work(inside);
        db.run(sql`COMMIT`);
      } catch (error) {
        db.run(sql`ROLLBACK`);
        throw error;
      }
    },
    rolledBack: null,
    mistaken: () => db.$client,
    async [Symbol.asyncDispose]() {
      await driver.close();
      db.$client.close();
    },
  };
  const onHand = (name: (typeof BY_HAND)[number]) => (store: Store<SqliteDatabase>) =>
    SCENARIOS[name]({ app: byHand, store });
  const scenarios = {
    ...inTransaction,
    'complete, commit': onHand('complete, commit'),
    'complete, rollback': onHand('complete, rollback'),
    'not a transaction': onHand('not a transaction'),
    'push guard': onHand('push guard'),
  };
  return { scenarios, [Symbol.asyncDispose]: () => byHand[Symbol.asyncDispose]() };
}

async function found(store: Store<SqliteDatabase>): Promise<[notes: string[], jobs: number]> {
  return [await store.notes(), await store.driver.pending()];
}
