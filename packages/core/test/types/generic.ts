// Code written once for any queue: over the driver, over the registry, over both.
import {
  type Handler,
  type Handlers,
  handler,
  hasReports,
  hasTransactions,
  type PayloadOf,
  Queue,
  type QueueDriver,
  type QueueInTransaction,
  type QueueTransactions,
  type WorkSource,
} from '../../src/index.js';
import { handlers } from './handlers.js';
import {
  db,
  PgDriver,
  type PgTransaction,
  PlainDriver,
  pgClient,
  pgPool,
  RedisDriver,
  SqliteDriver,
} from './stores.js';

async function pushTwice<D extends QueueDriver>(queue: Queue<D, typeof handlers>) {
  await queue.push('ping', { url: 'a' });
  // @ts-expect-error the payload is checked, whatever the driver
  await queue.push('ping', { url: 1 });
  // @ts-expect-error nothing says that this driver has transactions
  queue.within(pgClient);
  return queue.pending();
}

async function pushNamed<H extends Handlers, N extends keyof H & string>(
  queue: Queue<QueueDriver, H>,
  name: N,
  payload: PayloadOf<H[N]>,
) {
  return queue.push(name, payload, { delay: 5 });
}

async function pushWithin<D extends QueueDriver & QueueTransactions<PgTransaction>>(
  queue: Queue<D, typeof handlers>,
  tx: PgTransaction,
) {
  return queue.within(tx).push('ping', { url: '' });
}

function makeQueue<D extends QueueDriver>(driver: D) {
  return new Queue({ driver, handlers });
}

async function repay(invoices: QueueInTransaction<typeof handlers>) {
  await invoices.push('send-invoice', { invoiceId: 1 });
}

export async function genericCodeTakesEveryQueueThatFits() {
  const onPg = new Queue({ driver: new PgDriver(pgPool), handlers });
  const onRedis = new Queue({ driver: new RedisDriver(), handlers });
  const plain = new Queue({ driver: new PlainDriver(), handlers });
  await pushTwice(onPg);
  await pushTwice(onRedis);
  await pushTwice(plain);
  await pushNamed(onPg, 'send-invoice', { invoiceId: 1 });
  await pushNamed(plain, 'rebuild', { parts: [] });
  await pushWithin(onPg, pgClient);
  await repay(onPg.within(pgClient));
  await makeQueue(new PgDriver(pgPool)).push('ping', { url: '' });
  makeQueue(new PgDriver(pgPool)).within(pgClient);

  // @ts-expect-error there is no handler of that name
  await pushNamed(onPg, 'send-invoise', { invoiceId: 1 });
  // @ts-expect-error the payload is not the handler's
  await pushNamed(onPg, 'send-invoice', {});
  // @ts-expect-error Redis has no transactions
  await pushWithin(onRedis, pgClient);
  // @ts-expect-error SQLite has others
  await pushWithin(new Queue({ driver: new SqliteDriver(db), handlers }), pgClient);
  // @ts-expect-error and what was made of a driver without them has none
  makeQueue(new RedisDriver()).within(pgClient);
}

export function everyQueueIsAWorkSource(): WorkSource[] {
  return [makeQueue(new PgDriver(pgPool)), makeQueue(new PlainDriver()), makeQueue(new RedisDriver())];
}

export async function aGuardTellsWhatADriverCanDo(driver: QueueDriver) {
  // @ts-expect-error not asked yet
  await driver.stats();
  if (hasReports(driver)) await driver.stats();
  if (hasTransactions(driver)) driver.within(null as never);
}

/** A class that is given the queue it pushes to, as applications with injection write it. */
export class Billing {
  readonly #queue: Queue<QueueDriver, typeof handlers>;

  constructor(queue: Queue<QueueDriver, typeof handlers>) {
    this.#queue = queue;
  }

  async bill(invoiceId: number) {
    await this.#queue.push('send-invoice', { invoiceId });
  }
}

export function anyQueueOfTheRegistryMayBeInjected() {
  new Billing(makeQueue(new PgDriver(pgPool)));
  new Billing(makeQueue(new PlainDriver()));
  // @ts-expect-error a queue that does not know the handlers does not fit
  new Billing(new Queue({ driver: new PlainDriver(), handlers: {} }));
}

/** A handler that pushes the next job to the queue it is registered on: its body is a block, so the types end somewhere. */
const chained = {
  first: handler(async ({ id }: { id: number }) => {
    await chain.push('second', { id });
  }),
  second: handler(async (_: { id: number }) => {}),
} satisfies Record<string, Handler<{ id: number }>>;
const chain = new Queue({ driver: new PgDriver(pgPool), handlers: chained });
