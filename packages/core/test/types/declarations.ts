// `job<P>()`: a producer that does not have the handler's code.
import {
  defineHandlers,
  type Handlers,
  type JobDeclaration,
  job,
  type PayloadOf,
  Queue,
  type TxOf,
  Worker,
} from '../../src/index.js';
import { same } from './equal.js';
import { handlers } from './handlers.js';
import { PgDriver, pgClient, pgPool, RedisDriver } from './stores.js';

interface Resize {
  image: string;
  width?: number;
}

const declared = defineHandlers({ resize: job<Resize>(), sweep: job<{ tables: readonly string[] }>() });
const queue = new Queue({ driver: new PgDriver(pgPool), handlers: { ...declared, ...handlers } });

export async function aDeclaredJobIsPushedLikeAnyOther() {
  await queue.push('resize', { image: 'a.png' });
  await queue.push('resize', { image: 'a.png', width: 80 }, { unique: 'a.png' });
  await queue.push('sweep', { tables: ['a'] });
  await queue.within(pgClient).push('resize', { image: 'a.png' });
  await queue.pushMany([
    { name: 'resize', payload: { image: 'a.png' } },
    { name: 'ping', payload: { url: '' } },
  ]);
  await new Worker({ queue }).run();
  new Queue({ driver: new RedisDriver(), handlers: declared });

  // @ts-expect-error the payload is not the one declared
  await queue.push('resize', { image: 1 });
  // @ts-expect-error a declared payload is JSON too
  defineHandlers({ no: job<{ at: Date }>() });
  // @ts-expect-error an object or a list
  defineHandlers({ no: job<string>() });
  // @ts-expect-error and it is declared
  defineHandlers({ no: {} as JobDeclaration<{ id: bigint }> });

  same<PayloadOf<(typeof declared)['resize']>, Resize>(true);
  same<TxOf<(typeof declared)['resize']>, never>(true);
  declared satisfies Handlers;
}
