import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type InTransaction,
  type NewJob,
  Queue,
  type QueueBatches,
  type QueueDriver,
  type QueueReports,
  type QueueSyncPush,
  type QueueTransactions,
  type QueueWarning,
} from '../src/index.js';
import { aNewJob, aRecordingDriver, type Calls, recorded, refusal, rejection } from './fixtures.js';

class SendInvoice {
  handle(_: { invoiceId: number }) {}
}
class NoHandler {
  run() {}
}
const handlers = { 'send-invoice': SendInvoice, ping: { handle(_: object) {} } };

const calls: Calls = [];
beforeEach(() => {
  calls.length = 0;
});

/** The driver's methods for every ability a queue shows, written down like the six. */
const reports = {
  stats: () => recorded(calls, 'stats', [], []),
  failedCount: () => recorded(calls, 'failedCount', [], 0),
  failedRows: () => recorded(calls, 'failedRows', [], []),
  retryFailed: () => recorded(calls, 'retryFailed', [], 0),
  forgetFailed: () => recorded(calls, 'forgetFailed', [], 0),
} satisfies QueueReports;
const batches = {
  pushMany: (jobs: readonly NewJob[]) =>
    recorded(
      calls,
      'pushMany',
      [jobs],
      jobs.map((_, index) => index + 1),
    ),
  reserveMany: () => recorded(calls, 'reserveMany', [], []),
  deleteMany: () => recorded(calls, 'deleteMany', [], []),
} satisfies QueueBatches;
const transactions = {
  within(tx: { id: string }): InTransaction {
    return {
      push: (job) => recorded(calls, 'within.push', [tx, job], 2),
      pushMany: (jobs) => recorded(calls, 'within.pushMany', [tx, jobs], [2]),
      delete: () => recorded(calls, 'within.delete', [tx], true),
    };
  },
} satisfies QueueTransactions<{ id: string }>;
const syncPush = {
  pushSync(job: NewJob) {
    calls.push(['pushSync', job]);
    return 3;
  },
} satisfies QueueSyncPush;

const aDriver = () => aRecordingDriver(calls);
const aQueue = () => new Queue({ driver: aDriver(), handlers });
const aFullQueue = () =>
  new Queue({ driver: { ...aDriver(), ...reports, ...batches, ...transactions, ...syncPush }, handlers });

/** The job of the first push. */
const pushedJob = (): NewJob => (calls[0] ?? [])[1] as NewJob;

/** A push as JavaScript may write it, which TypeScript would not compile. */
const untyped = (queue: object) =>
  queue as {
    push(...args: unknown[]): Promise<number>;
    pushMany(...args: unknown[]): Promise<number[]>;
    pushSync(...args: unknown[]): number;
  };

describe('a push', () => {
  it('is a new job with the defaults of the queue', async () => {
    expect(await aQueue().push('send-invoice', { invoiceId: 42 })).toBe(1);
    expect(calls).toEqual([
      [
        'push',
        aNewJob({
          name: 'send-invoice',
          payload: { invoiceId: 42 },
          delay: 0,
          queue: 'default',
          priority: 0,
          unique: null,
          maxAttempts: 3,
        }),
      ],
    ]);
  });

  it('takes its options, each of the seven parts of a new job from where it belongs', async () => {
    await aQueue().push(
      'send-invoice',
      { invoiceId: 42 },
      { delay: 60, queue: 'mail', priority: 10, unique: 'rebuild-all', tries: 1 },
    );
    expect(calls).toEqual([
      [
        'push',
        {
          name: 'send-invoice',
          payload: { invoiceId: 42 },
          delay: 60,
          queue: 'mail',
          priority: 10,
          unique: 'rebuild-all',
          maxAttempts: 1,
        },
      ],
    ]);
  });

  it('takes the defaults that the queue was given', async () => {
    const queue = new Queue({ driver: aDriver(), handlers, queue: 'mail', tries: 7 });
    await queue.push('ping', {});
    await queue.push('ping', {}, { queue: 'other', tries: 2 });
    expect(calls.map(([, job]) => job)).toEqual([
      aNewJob({ name: 'ping', queue: 'mail', maxAttempts: 7 }),
      aNewJob({ name: 'ping', queue: 'other', maxAttempts: 2 }),
    ]);
    expect([queue.queue, queue.tries]).toEqual(['mail', 7]);
  });

  it('takes undefined for what is left out', async () => {
    const nothing = {
      delay: undefined,
      at: undefined,
      queue: undefined,
      priority: undefined,
      unique: undefined,
      tries: undefined,
    };
    await aQueue().push('ping', {}, nothing);
    expect(calls).toEqual([['push', aNewJob({ name: 'ping' })]]);
  });

  it('hands the driver the very payload it was given', async () => {
    const payload = { a: 1 };
    await aQueue().push('ping', payload);
    expect(pushedJob().payload).toBe(payload);
  });

  it('of less than no delay is one without', async () => {
    await aQueue().push('ping', {}, { delay: -5 });
    expect(calls).toEqual([['push', aNewJob({ name: 'ping', delay: 0 })]]);
  });

  it('gives the driver’s own error untouched', async () => {
    const lost = new Error('lost');
    const queue = new Queue({ driver: { ...aDriver(), push: () => Promise.reject(lost) }, handlers });
    await expect(queue.push('ping', {})).rejects.toBe(lost);
  });
});

describe('a push is refused at the call site, and the driver is untouched', () => {
  const strange = { ...handlers, broken: NoHandler, text: 'x', nothing: null };

  it.each<[string, unknown[], string, string]>([
    ['no name', [], 'handler_name_missing', 'A job needs a handler name'],
    ['an empty name', ['', {}], 'handler_name_missing', 'A job needs a handler name'],
    ['a name that is no text', [SendInvoice, {}], 'handler_name_missing', 'A job needs a handler name'],
    [
      'an unknown name',
      ['send-invoise', {}],
      'handler_unknown',
      'Cannot queue "send-invoise": no handler is registered under it',
    ],
    [
      'constructor',
      ['constructor', {}],
      'handler_unknown',
      'Cannot queue "constructor": no handler is registered under it',
    ],
    ['__proto__', ['__proto__', {}], 'handler_unknown', 'Cannot queue "__proto__": no handler is registered under it'],
    [
      'a class without handle',
      ['broken', {}],
      'handler_invalid',
      'Cannot queue "broken": it does not implement Handler',
    ],
    ['text in the registry', ['text', {}], 'handler_invalid', 'Cannot queue "text": it does not implement Handler'],
    [
      'null in the registry',
      ['nothing', {}],
      'handler_invalid',
      'Cannot queue "nothing": it does not implement Handler',
    ],
    [
      'a delay that is no number',
      ['ping', {}, { delay: '60' }],
      'invalid_number',
      'A delay has to be a whole number; got a string',
    ],
    [
      'a delay of NaN',
      ['ping', {}, { delay: Number.NaN }],
      'invalid_number',
      'A delay has to be a whole number; got NaN',
    ],
    [
      'a fraction of a second',
      ['ping', {}, { delay: 0.5 }],
      'invalid_number',
      'A delay has to be a whole number; got 0.5',
    ],
    [
      'a delay without end',
      ['ping', {}, { delay: Number.POSITIVE_INFINITY }],
      'invalid_number',
      'A delay has to be a whole number; got Infinity',
    ],
    [
      'a delay and a moment',
      ['ping', {}, { delay: 0, at: new Date() }],
      'invalid_option',
      'A job is queued with a delay or with a moment (at), not with both',
    ],
    [
      'a moment as text',
      ['ping', {}, { at: '2027-01-01' }],
      'invalid_option',
      'The moment (at) of a job has to be a Date; got a string',
    ],
    [
      'a moment as a number',
      ['ping', {}, { at: Date.now() }],
      'invalid_option',
      'The moment (at) of a job has to be a Date; got a number',
    ],
    [
      'null as a moment',
      ['ping', {}, { at: null }],
      'invalid_option',
      'The moment (at) of a job has to be a Date; got null',
    ],
    [
      'an invalid moment',
      ['ping', {}, { at: new Date(Number.NaN) }],
      'invalid_option',
      'The moment (at) of a job has to be a Date; got an invalid one',
    ],
    [
      'options that are a delay',
      ['ping', {}, 60],
      'invalid_option',
      'The options of a push have to be an object; got a number',
    ],
    [
      'options that are null',
      ['ping', {}, null],
      'invalid_option',
      'The options of a push have to be an object; got null',
    ],
  ])('%s', async (_, args, code, message) => {
    const driver = { ...aDriver(), ...batches, ...transactions, ...syncPush };
    const queue = untyped(new Queue({ driver, handlers: strange as never }));
    expect(await rejection(() => queue.push(...args))).toEqual({ code, message });
    expect(refusal(() => queue.pushSync(...args))).toEqual({ code, message });
    const within = untyped((queue as unknown as { within(tx: unknown): object }).within({ id: 'tx' }));
    expect(await rejection(() => within.push(...args))).toEqual({ code, message });
    expect(calls).toEqual([]);
  });

  it('whatever it is queued with, an unknown name is told first', async () => {
    const queue = untyped(aQueue());
    expect((await rejection(() => queue.push('x', 1n, { delay: 'y' }))).code).toBe('handler_unknown');
  });

  it('nothing is built or called', async () => {
    const built: string[] = [];
    class Counting {
      constructor() {
        built.push('class');
      }
      handle() {}
    }
    const queue = new Queue({
      driver: aDriver(),
      handlers: {
        class: Counting,
        factory: () => {
          built.push('factory');
          return new Counting();
        },
      },
    });
    await queue.push('class', {});
    await queue.push('factory', {});
    expect(built).toEqual([]);
    expect(calls).toHaveLength(2);
  });
});

describe('a moment (at)', () => {
  const now = new Date('2027-01-01T09:00:00.500Z');

  it.each([
    ['the same moment', '2027-01-01T09:00:00.500Z', 0],
    ['a millisecond later', '2027-01-01T09:00:00.501Z', 1],
    ['a second later', '2027-01-01T09:00:01.500Z', 1],
    ['a second and a millisecond later', '2027-01-01T09:00:01.501Z', 2],
    ['an hour later', '2027-01-01T10:00:00.000Z', 3_600],
    ['a millisecond ago', '2027-01-01T09:00:00.499Z', 0],
    ['long ago', '1970-01-01T00:00:00.000Z', 0],
    ['after 2106', '2106-02-07T06:28:16.500Z', 2_496_173_296],
  ])('is a delay that is never too short: %s', async (_, at, delay) => {
    await new Queue({ driver: aDriver(), handlers, now: () => now }).push('ping', {}, { at: new Date(at) });
    expect(calls).toEqual([['push', aNewJob({ name: 'ping', delay })]]);
  });

  it('may be the last that there is', async () => {
    await aQueue().push('ping', {}, { at: new Date(8.64e15) });
    expect(Number.isSafeInteger(pushedJob().delay)).toBe(true);
  });

  it('is counted from the process’s clock where no other is given', async () => {
    await aQueue().push('ping', {}, { at: new Date(Date.now() + 60_000) });
    expect([59, 60]).toContain(pushedJob().delay);
  });
});

describe('pushMany', () => {
  it('is one call of the driver, in the order given, each item with its own options', async () => {
    const ids = await aFullQueue().pushMany([
      { name: 'send-invoice', payload: { invoiceId: 1 }, delay: 60, unique: 'a' },
      { name: 'ping', payload: {}, queue: 'mail', priority: 1, tries: 1 },
    ]);
    expect(ids).toEqual([1, 2]);
    expect(calls).toEqual([
      [
        'pushMany',
        [
          aNewJob({ name: 'send-invoice', payload: { invoiceId: 1 }, delay: 60, unique: 'a' }),
          aNewJob({ name: 'ping', queue: 'mail', priority: 1, maxAttempts: 1 }),
        ],
      ],
    ]);
  });

  it('may be of nothing', async () => {
    expect(await aFullQueue().pushMany([])).toEqual([]);
  });

  it.each<[string, unknown, string, string]>([
    [
      'an unknown name',
      [
        { name: 'ping', payload: {} },
        { name: 'x', payload: {} },
      ],
      'handler_unknown',
      'jobs[1]: Cannot queue "x": no handler is registered under it',
    ],
    ['an item without a name', [{ payload: {} }], 'handler_name_missing', 'jobs[0]: A job needs a handler name'],
    ['an item that is null', [null], 'handler_name_missing', 'jobs[0]: A job needs a handler name'],
    ['a hole', new Array(1), 'handler_name_missing', 'jobs[0]: A job needs a handler name'],
    [
      'a wrong delay',
      [{ name: 'ping', payload: {}, delay: 0.5 }],
      'invalid_number',
      'jobs[0]: A delay has to be a whole number; got 0.5',
    ],
    ['no list', { name: 'ping', payload: {} }, 'invalid_option', 'The jobs to push have to be a list; got an object'],
    ['nothing', undefined, 'invalid_option', 'The jobs to push have to be a list; got undefined'],
  ])('is refused as a whole for one item, which is named by its place: %s', async (_, items, code, message) => {
    const queue = aFullQueue();
    expect(await rejection(() => untyped(queue).pushMany(items))).toEqual({ code, message });
    expect(await rejection(() => untyped(queue.within({ id: 'tx' })).pushMany(items))).toEqual({ code, message });
    expect(calls).toEqual([]);
  });
});

describe('within a transaction', () => {
  it('pushes go to the driver’s side of just that transaction', async () => {
    const tx = { id: 'tx' };
    const inTransaction = aFullQueue().within(tx);
    expect(await inTransaction.push('ping', {})).toBe(2);
    expect(await inTransaction.pushMany([{ name: 'ping', payload: {} }])).toEqual([2]);
    expect(calls).toEqual([
      ['within.push', tx, aNewJob({ name: 'ping' })],
      ['within.pushMany', tx, [aNewJob({ name: 'ping' })]],
    ]);
  });

  it('has nothing but pushes', () => {
    expect(Object.keys(aFullQueue().within({ id: 'tx' }))).toEqual(['push', 'pushMany']);
  });

  it('gives what the driver refuses about the transaction, at once', () => {
    const driver = {
      ...aDriver(),
      within(): InTransaction {
        throw new RangeError('a pool');
      },
    };
    expect(() => new Queue({ driver, handlers }).within({})).toThrow(new RangeError('a pool'));
  });
});

describe('what a driver cannot do', () => {
  const abilities = ['reports', 'pushMany', 'pushSync', 'within'];

  it('is not on its queue', () => {
    const queue = aQueue();
    for (const ability of abilities) expect(ability in queue).toBe(false);
  });

  it.each<[string, object, string[]]>([
    ['reports', reports, ['reports']],
    ['batches', batches, ['pushMany']],
    ['a synchronous push', syncPush, ['pushSync']],
    ['transactions', transactions, ['within']],
    ['half of the reports', { stats: reports.stats, failedCount: reports.failedCount }, []],
  ])('is all that is not on it, with %s', (_, methods, had) => {
    const queue = new Queue({ driver: { ...aDriver(), ...methods }, handlers });
    expect(abilities.filter((ability) => ability in queue)).toEqual(had);
  });
});

describe('a queue', () => {
  it('shows the driver’s reports', async () => {
    const queue = aFullQueue();
    expect(await queue.reports.stats()).toEqual([]);
    expect(await queue.reports.failedCount()).toBe(0);
    expect(calls.map(([method]) => method)).toEqual(['stats', 'failedCount']);
  });

  it('tells how many jobs could run', async () => {
    const queue = aQueue();
    expect(await queue.pending('mail')).toBe(5);
    expect(await queue.pending()).toBe(5);
    expect(calls).toEqual([
      ['pending', 'mail'],
      ['pending', undefined],
    ]);
  });

  it('resolves a handler as a worker would', async () => {
    const queue = aQueue();
    expect(await queue.handler('send-invoice')).toBeInstanceOf(SendInvoice);
    expect(await rejection(() => queue.handler('x' as never))).toEqual({
      code: 'handler_unknown',
      message: 'No handler "x": x does not exist in the handler registry',
    });
    expect(calls).toEqual([]);
  });

  it('keeps its driver and its handlers in sight', () => {
    const driver = aDriver();
    const queue = new Queue({ driver, handlers });
    expect(queue.driver).toBe(driver);
    expect(queue.handlers).toBe(handlers);
    expect([queue.queue, queue.tries]).toEqual(['default', 3]);
  });

  it('touches nothing when it is made', () => {
    aFullQueue();
    expect(calls).toEqual([]);
  });
});

describe('the options of a queue', () => {
  const without = (...methods: (keyof QueueDriver)[]) =>
    Object.fromEntries(Object.entries(aDriver()).filter(([name]) => !methods.includes(name as keyof QueueDriver)));

  it.each<[string, Record<string, unknown>, string, string]>([
    [
      'no driver',
      { driver: undefined },
      'invalid_option',
      'A Queue needs a driver; what it was given has no push, reserve, delete, release, fail, pending',
    ],
    [
      'null',
      { driver: null },
      'invalid_option',
      'A Queue needs a driver; what it was given has no push, reserve, delete, release, fail, pending',
    ],
    [
      'half a driver',
      { driver: without('fail', 'pending') },
      'invalid_option',
      'A Queue needs a driver; what it was given has no fail, pending',
    ],
    ['no handlers', { handlers: undefined }, 'invalid_option', 'A Queue needs a registry of handlers; got undefined'],
    [
      'handlers that are a function',
      { handlers: () => {} },
      'invalid_option',
      'A Queue needs a registry of handlers; got a function',
    ],
    ['an empty queue name', { queue: '' }, 'invalid_text', 'A queue name has to have 1 to 64 characters; got none'],
    [
      'a padded queue name',
      { queue: 'mail ' },
      'invalid_text',
      'A queue name may not begin or end with white space; got "mail "',
    ],
    [
      'tries that are text',
      { tries: '3' },
      'invalid_number',
      'The number of attempts has to be a whole number; got a string',
    ],
    [
      'tries without end',
      { tries: Number.POSITIVE_INFINITY },
      'invalid_number',
      'The number of attempts has to be a whole number; got Infinity',
    ],
    ['a backoff of text', { backoff: '10' }, 'invalid_number', 'A delay has to be a whole number; got a string'],
    [
      'an empty list of backoffs',
      { backoff: [] },
      'invalid_option',
      'A list of backoffs has to have at least one delay',
    ],
    ['a jitter over 1', { jitter: 20 }, 'invalid_number', 'jitter has to be a share from 0 to 1; got 20'],
  ])('are checked when it is made: %s', (_, options, code, message) => {
    expect(refusal(() => new Queue({ driver: aDriver(), handlers, ...options } as never))).toEqual({ code, message });
    expect(calls).toEqual([]);
  });

  it('raise tries to one', () => {
    expect(new Queue({ driver: aDriver(), handlers, tries: 0 }).tries).toBe(1);
  });
});

describe('the backoff of a queue', () => {
  it.each([
    [1, 10],
    [2, 60],
    [3, 300],
    [9, 300],
  ])('is 10, 60, 300 where nothing is said: after attempt %d, %d s', (attempt, delay) => {
    expect(aQueue().backoff(attempt)).toBe(delay);
  });

  it('is exact without jitter, and with it never shorter', () => {
    const queue = new Queue({ driver: aDriver(), handlers, backoff: 100, jitter: 0.2 });
    const delays = Array.from({ length: 500 }, () => queue.backoff(1));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...delays)).toBeLessThanOrEqual(120);
    expect(new Set(delays).size).toBeGreaterThan(5);
  });

  it('warns of a function that gives nonsense, and goes on with the default', () => {
    const warnings: QueueWarning[] = [];
    const onWarning = (warning: QueueWarning) => warnings.push(warning);
    const queue = new Queue({ driver: aDriver(), handlers, backoff: () => Number.NaN, onWarning });
    expect(queue.backoff(2)).toBe(60);
    expect(warnings).toEqual([
      {
        code: 'backoff_invalid',
        message: 'The backoff function failed, so the default is used: A delay has to be a whole number; got NaN',
      },
    ]);
  });

  it('tells a caller who asks to be told instead', () => {
    const reported: unknown[] = [];
    const lost = new Error('lost');
    const queue = new Queue({
      driver: aDriver(),
      handlers,
      backoff: () => {
        throw lost;
      },
      onWarning: () => reported.push('warned'),
    });
    expect(queue.backoff(1, (error) => reported.push(error))).toBe(10);
    expect(reported).toEqual([lost]);
  });

  it('is a warning of the process where nobody listens', () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    new Queue({
      driver: aDriver(),
      handlers,
      backoff: () => {
        throw 'nothing';
      },
    }).backoff(1);
    expect(emitWarning.mock.calls).toEqual([
      ['The backoff function failed, so the default is used: a string', { type: 'q', code: 'backoff_invalid' }],
    ]);
    emitWarning.mockRestore();
  });
});
