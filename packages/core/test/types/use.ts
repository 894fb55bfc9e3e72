// What an application writes, on each of four stores. Never run: compiling it is the test.
import { defineHandlers, Queue, type QueueDriver, type QueueReports, Worker } from '../../src/index.js';
import { handlers } from './handlers.js';
import {
  db,
  MysqlDriver,
  mysqlClient,
  mysqlPlainClient,
  mysqlPool,
  PgDriver,
  pgClient,
  pgPlainClient,
  pgPool,
  RedisDriver,
  SqliteDriver,
} from './stores.js';

const onPg = new Queue({ driver: new PgDriver(pgPool), handlers, tries: 3, backoff: [10, 60, 300] });
const onMysql = new Queue({ driver: new MysqlDriver(mysqlPool), handlers });
const onSqlite = new Queue({ driver: new SqliteDriver(db), handlers });
const onRedis = new Queue({ driver: new RedisDriver(), handlers });

export async function aQueueOnPostgres() {
  const id = await onPg.push('send-invoice', { invoiceId: 1 }, { delay: 60 });
  id.toFixed();
  await onPg.push('send-statement', { customer: 'a' });
  await onPg.push('rebuild', { parts: ['x'] });
  await onPg.push('rebuild', { parts: [], full: true });
  await onPg.push('ping', { url: '' }, { at: new Date(), queue: 'mail', priority: 10, unique: 'ping', tries: 1 });
  await onPg.push('ping', { url: '' }, { delay: undefined, at: undefined, unique: null, tries: undefined });
  await onPg.within(pgClient).push('send-invoice', { invoiceId: 42 });
  await onPg.within(pgPlainClient).push('ping', { url: '' });
  await onPg.reports.stats();
  await onPg.pending('mail');
  onPg.backoff(1).toFixed();
  await (await onPg.handler('ping')).handle({}, null as never);

  // @ts-expect-error there is no handler of that name
  await onPg.push('send-invoise', { invoiceId: 1 });
  // @ts-expect-error the payload is not the handler's
  await onPg.push('send-invoice', { invoiceId: '1' });
  // @ts-expect-error nor is it that of the handler that is loaded lazily
  await onPg.push('rebuild', {});
  // @ts-expect-error a payload has nothing its handler does not know
  await onPg.push('send-invoice', { invoiceId: 1, amount: 2 });
  // @ts-expect-error a payload is not left out
  await onPg.push('ping');
  // @ts-expect-error there is no such option
  await onPg.push('ping', { url: '' }, { delya: 60 });
  // @ts-expect-error a moment is a Date
  await onPg.push('ping', { url: '' }, { at: '2027-01-01' });
  // @ts-expect-error inside a transaction the payload is checked too
  await onPg.within(pgClient).push('send-invoice', { invoiceId: '42' });
  // @ts-expect-error a handler that is not there cannot be looked up
  await onPg.handler('send-invoise');
  // @ts-expect-error a pool is not a transaction
  onPg.within(pgPool);
  // @ts-expect-error nor is nothing
  onPg.within();
  // @ts-expect-error nothing can be reserved inside a transaction
  onPg.within(pgClient).reserve;
  // @ts-expect-error Postgres has no synchronous push
  onPg.pushSync;
}

export async function aQueueOnMysql() {
  await onMysql.within(mysqlClient).push('ping', { url: '' });
  await onMysql.within(mysqlPlainClient).push('ping', { url: '' });
  // @ts-expect-error a pool is not a transaction
  onMysql.within(mysqlPool);
  // @ts-expect-error another store's transaction is not this one's
  onMysql.within(db);
}

export async function aQueueOnSqlite() {
  db.transaction(() => onSqlite.pushSync('send-invoice', { invoiceId: 1 }))().toFixed();
  await onSqlite.within(db).push('ping', { url: '' });
  // @ts-expect-error another store's transaction is not this one's
  onSqlite.within(pgClient);
  // @ts-expect-error the payload is checked here too
  onSqlite.pushSync('send-invoice', { invoiceId: '1' });
}

export async function aQueueOnRedis() {
  await onRedis.push('send-invoice', { invoiceId: 1 });
  // @ts-expect-error Redis has no transactions with the application's rows
  onRedis.within;
  // @ts-expect-error nor reports
  onRedis.reports;
}

export async function aWorkerTakesEveryQueue() {
  for (const queue of [onPg, onMysql, onSqlite, onRedis]) await new Worker({ queue, concurrency: 3 }).run();
  const exitCode: 0 | 1 = await new Worker({ queue: onPg, queues: ['high', 'default'] }).run();
  return exitCode;
}

export function aRegistryRefusesWhatIsNotAHandler() {
  class Run {
    run() {}
  }
  class Statement {
    constructor(readonly printer: { print(): void }) {}
    handle(_payload: { customer: string }) {}
  }
  // @ts-expect-error it has no `handle`
  defineHandlers({ no: Run });
  // @ts-expect-error a constructor with arguments needs a factory
  defineHandlers({ no: Statement });
  // @ts-expect-error a factory is called without arguments
  defineHandlers({ no: (printer: { print(): void }) => new Statement(printer) });
  // @ts-expect-error a bare function is a factory, and this one makes no handler
  defineHandlers({ no: async () => {} });
  // @ts-expect-error text is not a handler
  defineHandlers({ no: './rebuild.js' });
}

/** Code that works with every queue that has the ability. */
async function nightly<D extends QueueDriver & QueueReports>(queue: Queue<D, typeof handlers>) {
  await queue.push('rebuild', { parts: [] });
  return queue.reports.stats();
}

export async function anAbilityMayBeAskedFor() {
  await nightly(onPg);
  await nightly(onMysql);
  await nightly(onSqlite);
  // @ts-expect-error Redis has no reports
  await nightly(onRedis);
}
