// Handlers that complete in the application's own transaction: typed by the handler that asks for it, and refused where
// the driver has no such transaction.
import type Database from 'better-sqlite3';
import { defineHandlers, type Handler, handler, type Job, Queue, type TxOf, Worker } from '../../src/index.js';
import { same } from './equal.js';
import { handlers } from './handlers.js';
import {
  db,
  MysqlDriver,
  type MysqlTransaction,
  mysqlPool,
  PgDriver,
  type PgTransaction,
  PlainDriver,
  pgClient,
  pgPlainClient,
  pgPool,
  RedisDriver,
  SqliteDriver,
} from './stores.js';

interface Amount {
  amount: number;
}

const transfer = handler(async (payload: Amount, job: Job<Amount, PgTransaction>) => {
  await job.complete(pgClient);
  await job.complete(pgPlainClient);
  // @ts-expect-error a pool is not a transaction
  await job.complete(pgPool);
  // @ts-expect-error nor is another store's
  await job.complete(db);
  return payload.amount;
});

class Transfer implements Handler<Amount, PgTransaction> {
  async handle(_: Amount, job: Job<Amount, PgTransaction>) {
    await job.complete(pgClient);
  }
}

class LiteTransfer {
  handle(_: Amount, job: Job<Amount, Database.Database>) {
    return job.complete(db);
  }
}

const completing = defineHandlers({
  transfer,
  'transfer-class': Transfer,
  'transfer-factory': () => new Transfer(),
  'transfer-lazy': async () => new Transfer(),
});

export async function aCompletingHandlerFitsItsStore() {
  const queue = new Queue({ driver: new PgDriver(pgPool), handlers: { ...completing, ...handlers } });
  await queue.push('transfer', { amount: 1 });
  await queue.within(pgClient).push('transfer-lazy', { amount: 1 });
  await new Worker({ queue }).run();
  new Queue({ driver: new SqliteDriver(db), handlers: defineHandlers({ lite: LiteTransfer, ...handlers }) });
}

export function aCompletingHandlerFitsNoOtherStore() {
  // @ts-expect-error Redis cannot complete in a Postgres transaction
  new Queue({ driver: new RedisDriver(), handlers: defineHandlers({ transfer }) });
  // @ts-expect-error nor can SQLite
  new Queue({ driver: new SqliteDriver(db), handlers: defineHandlers({ transfer }) });
  // @ts-expect-error nor MySQL
  new Queue({ driver: new MysqlDriver(mysqlPool), handlers: defineHandlers({ transfer }) });
  // @ts-expect-error nor a driver without transactions
  new Queue({ driver: new PlainDriver(), handlers: defineHandlers({ transfer }) });
  // @ts-expect-error a class is looked into
  new Queue({ driver: new RedisDriver(), handlers: { no: Transfer } });
  // @ts-expect-error a factory too
  new Queue({ driver: new RedisDriver(), handlers: { no: () => new Transfer() } });
  // @ts-expect-error a lazy one too
  new Queue({ driver: new RedisDriver(), handlers: { no: async () => new Transfer() } });
  // @ts-expect-error and Postgres does not take SQLite's
  new Queue({ driver: new PgDriver(pgPool), handlers: { no: LiteTransfer } });
}

export function aHandlerThatDoesNotSayWhichCannotComplete() {
  defineHandlers({
    // @ts-expect-error this handler did not say which transaction
    no: handler(async (_: { url: string }, job) => job.complete(pgClient)),
  });
  same<TxOf<typeof transfer>, PgTransaction>(true);
  same<TxOf<typeof Transfer>, PgTransaction>(true);
  same<TxOf<() => Promise<Transfer>>, PgTransaction>(true);
  same<TxOf<(typeof handlers)['send-invoice']>, never>(true);
  same<TxOf<(typeof handlers)['send-statement']>, never>(true);
  same<TxOf<(typeof handlers)['rebuild']>, never>(true);
  same<TxOf<() => Handler<Amount, MysqlTransaction>>, MysqlTransaction>(true);
}
