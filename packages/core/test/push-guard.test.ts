import { describe, expect, it } from 'vitest';
import { type InTransaction, Queue, type QueueWarning, Worker, type WorkSource } from '../src/index.js';
import { aRecordingDriver, type Calls, inChild, recorded, rejection } from './fixtures.js';

const handlers = { ping: { handle(_: object) {} } };

/** A transaction that knows whether it is open; `null`: one that cannot tell. */
interface Tx {
  isOpen: boolean | null;
}

function open(guard?: 'warn' | 'error') {
  const calls: Calls = [];
  const warnings: QueueWarning[] = [];
  const driver = {
    ...aRecordingDriver(calls),
    pushMany: (jobs: readonly object[]) =>
      recorded(
        calls,
        'pushMany',
        [jobs],
        jobs.map(() => 1),
      ),
    reserveMany: () => recorded(calls, 'reserveMany', [], []),
    deleteMany: () => recorded(calls, 'deleteMany', [], []),
    within: (tx: Tx): InTransaction => ({
      push: () => recorded(calls, 'within.push', [], 2),
      pushMany: () => recorded(calls, 'within.pushMany', [], [2]),
      delete: () => recorded(calls, 'within.delete', [], true),
      ...(tx.isOpen === null ? {} : { isOpen: async () => tx.isOpen === true }),
    }),
  };
  const onWarning = (warning: QueueWarning) => warnings.push(warning);
  const queue = new Queue({ driver, handlers, onWarning, ...(guard === undefined ? {} : { guard }) });
  return { queue, calls, warnings, names: () => calls.map(([name]) => name) };
}

/** As a library runs a callback: after its BEGIN was answered, with what comes after it in a context of its own. */
async function transaction(work: (tx: Tx) => Promise<unknown>, tx: Tx = { isOpen: true }): Promise<void> {
  await Promise.resolve();
  try {
    await work(tx);
  } finally {
    if (tx.isOpen !== null) tx.isOpen = false;
  }
}

async function pushFromThisFunction(queue: { push(name: 'ping', payload: object): Promise<number> }) {
  return queue.push('ping', {});
}

describe('the push guard', () => {
  it('is off unless it is asked for', async () => {
    const { queue, names, warnings } = open();
    await transaction(async (tx) => {
      await queue.within(tx).push('ping', {});
      await queue.push('ping', {});
    });
    expect([names(), warnings]).toStrictEqual([['within.push', 'push'], []]);
  });

  it.each(['loud', '', true, null, 1])('is refused as %j', (guard) => {
    expect(() => open(guard as never)).toThrow(/The guard of a Queue is 'warn' or 'error', or is left out; got /);
  });

  it('warns of a plain push beside a transaction, with the stack, and lets it happen', async () => {
    const { queue, names, warnings } = open('warn');
    await transaction(async (tx) => {
      await queue.within(tx).push('ping', {});
      await pushFromThisFunction(queue);
    });
    expect(names()).toStrictEqual(['within.push', 'push']);
    expect(warnings).toMatchObject([{ code: 'transaction_open' }]);
    expect(warnings[0]?.message).toMatch(/^The job ping is pushed while a transaction is open, but not within it/);
    expect(warnings[0]?.stack).toContain('pushFromThisFunction');
  });

  it('refuses it, with the stack, before the driver is touched', async () => {
    const { queue, names } = open('error');
    await transaction(async (tx) => {
      queue.within(tx);
      const refused = pushFromThisFunction(queue);
      await expect(refused).rejects.toMatchObject({
        code: 'transaction_open',
        stack: expect.stringContaining('pushFromThisFunction'),
      });
      expect(await rejection(() => queue.pushMany([{ name: 'ping', payload: {} }]))).toMatchObject({
        message: expect.stringMatching(/^A batch of 1 is pushed/),
      });
    });
    expect(names()).toStrictEqual([]);
  });

  it('says nothing of a push within the transaction', async () => {
    const { queue, names } = open('error');
    await transaction(async (tx) => {
      const within = queue.within(tx);
      await within.push('ping', {});
      await within.pushMany([{ name: 'ping', payload: {} }]);
    });
    expect(names()).toStrictEqual(['within.push', 'within.pushMany']);
  });

  it('finds a push in what the callback calls, timers included', async () => {
    const { queue } = open('error');
    await transaction(async (tx) => {
      queue.within(tx);
      const later = new Promise((resolve) => setTimeout(() => resolve(rejection(() => queue.push('ping', {}))), 1));
      expect(await later).toMatchObject({ code: 'transaction_open' });
    });
  });

  it.each([true, null])('says nothing once the callback is over (isOpen: %j)', async (isOpen) => {
    const { queue, names } = open('error');
    await transaction(async (tx) => queue.within(tx).push('ping', {}), { isOpen });
    await queue.push('ping', {});
    await expect(
      transaction(
        async (tx) => {
          queue.within(tx);
          throw new Error('rolled back');
        },
        { isOpen },
      ),
    ).rejects.toThrow('rolled back');
    await queue.push('ping', {});
    expect(names()).toStrictEqual(['within.push', 'push', 'push']);
  });

  it('says nothing after the end of a transaction that began in the same function', async () => {
    const { queue, names } = open('error');
    const tx: Tx = { isOpen: true };
    await queue.within(tx).push('ping', {});
    tx.isOpen = false;
    await queue.push('ping', {});
    expect(names()).toStrictEqual(['within.push', 'push']);
  });

  it('tells transactions that are open at the same time apart', async () => {
    const { queue, names } = open('error');
    let told = () => {};
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    const other = (async () => {
      await isTold;
      await queue.push('ping', {});
    })();
    await transaction(async (tx) => {
      queue.within(tx);
      told();
      await other;
    });
    expect(names()).toStrictEqual(['push']);
  });

  it('is of one Queue: another one may be pushed to', async () => {
    const [one, other] = [open('error'), open('error')];
    await transaction(async (tx) => {
      one.queue.within(tx);
      await other.queue.push('ping', {});
    });
    expect(other.names()).toStrictEqual(['push']);
  });

  it('is told of a transaction by job.complete, too', async () => {
    const { queue, calls } = open('error');
    const found: unknown[] = [];
    const reserved = { id: 1, attempts: 1, handle: '', queue: 'default', name: 'ping', payload: {}, payloadJson: '{}' };
    const driver = {
      ...queue.driver,
      reserve: async () => ({ ...reserved, maxAttempts: 3, reclaimed: false }),
    };
    const worker = new Worker({
      queue: {
        // The cast: what a Queue has for its worker is not in its type.
        ...(queue as unknown as WorkSource),
        driver,
        handlers: {
          ping: {
            handle: (_: object, job: { complete(tx: unknown): Promise<void> }) =>
              transaction(async (tx) => {
                await job.complete(tx);
                found.push(await rejection(() => queue.push('ping', {})));
              }),
          },
        },
        backoff: () => 0,
      },
    });
    expect(await worker.runNext()).toBe(true);
    expect(found).toMatchObject([{ code: 'transaction_open' }]);
    expect(calls.map(([name]) => name)).not.toContain('push');
  });

  it('says nothing after the first transaction of a process, whatever it was waited for by', async () => {
    const { answer } = await inChild(`
      import { Queue } from '@q/core';
      const ignore = async () => 1;
      const driver = { push: ignore, reserve: ignore, delete: ignore, release: ignore, fail: ignore, pending: ignore };
      const within = () => ({ push: ignore, pushMany: ignore, delete: ignore });
      const queue = new Queue({ driver: { ...driver, within }, handlers: { ping: { handle() {} } }, guard: 'error' });
      const transaction = async (work) => {
        await null;
        return work({});
      };
      await transaction(async (tx) => {
        await null;
        await queue.within(tx).push('ping', {});
      });
      console.log(JSON.stringify(await queue.push('ping', {}).catch(({ code }) => code)));`);
    expect(answer).toBe(1);
  });
});
