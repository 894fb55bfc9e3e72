// A list of jobs: every item is typed by the handler of its own name, and the method is there only on a store with batches.
import { Queue } from '../../src/index.js';
import { handlers } from './handlers.js';
import { PgDriver, PlainDriver, pgClient, pgPool, RedisDriver } from './stores.js';

const onPg = new Queue({ driver: new PgDriver(pgPool), handlers });
const onRedis = new Queue({ driver: new RedisDriver(), handlers });
const plain = new Queue({ driver: new PlainDriver(), handlers });

export async function everyItemIsTypedByItsName(customers: readonly string[]) {
  const ids = await onPg.pushMany([
    { name: 'send-invoice', payload: { invoiceId: 1 }, delay: 60, unique: 'invoice-1' },
    { name: 'ping', payload: { url: '' }, at: new Date(), tries: 1, priority: 5, queue: 'mail' },
  ]);
  ids[0]?.toFixed();
  await onRedis.pushMany(customers.map((customer) => ({ name: 'send-statement', payload: { customer } })));
  await onPg.within(pgClient).pushMany([{ name: 'rebuild', payload: { parts: [] } }]);
  await onPg.pushMany([]);

  // @ts-expect-error there is no handler of that name
  await onPg.pushMany([{ name: 'send-invoise', payload: { invoiceId: 1 } }]);
  await onPg.pushMany([
    { name: 'send-invoice', payload: { invoiceId: 1 } },
    // @ts-expect-error the payload is another handler's
    { name: 'ping', payload: { invoiceId: 1 } },
  ]);
  // @ts-expect-error an item needs its payload
  await onPg.pushMany([{ name: 'ping' }]);
  // @ts-expect-error and its name
  await onPg.pushMany([{ payload: { url: '' } }]);
  // @ts-expect-error there is no such option
  await onPg.pushMany([{ name: 'ping', payload: { url: '' }, delya: 60 }]);
  // @ts-expect-error inside a transaction it is checked too
  await onPg.within(pgClient).pushMany([{ name: 'rebuild', payload: {} }]);
}

export async function withoutBatchesThereIsNone() {
  await plain.push('ping', { url: '' });
  // @ts-expect-error the six methods alone have no batches
  plain.pushMany;
  // @ts-expect-error nor transactions
  plain.within;
  // @ts-expect-error nor reports
  plain.reports;
  // @ts-expect-error nor a synchronous push
  plain.pushSync;
}
