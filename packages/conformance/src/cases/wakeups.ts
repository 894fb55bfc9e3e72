import { equal, fail } from 'node:assert/strict';
import { aCase, type ConformanceCase } from '../case.js';
import { INVALID, refused } from '../expectations.js';
import { aJob, reserveOne } from '../fixtures.js';

/** How long a wakeup may take. The only cases that wait in real time, and only for what does not come. */
const SOON_MS = 5_000;

export const wakeups: readonly ConformanceCase[] = [
  aCase({
    id: 'wakeups/by-the-same-client',
    name: 'A push by the very client that waits wakes it too',
    rule: 'wakeups',
    needs: ['wakeups'],
    run: async ({ driver }) => {
      const bell = new Bell();
      await driver.onPush(['default'], bell.ring);
      await driver.push(aJob());
      await bell.rung('a push by the same client');
    },
  }),
  aCase({
    id: 'wakeups/any-queue-named',
    name: 'A push by another client to any of the queues named wakes within five seconds, each time again',
    rule: 'wakeups',
    needs: ['wakeups'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const bell = new Bell();
      await driver.onPush(['a', 'b é 😀', 'c'], bell.ring);
      for (const queue of ['c', 'b é 😀', 'a', 'a']) {
        bell.reset();
        const id = await other.push(aJob({ queue }));
        await bell.rung(`a push to ${queue}`);
        equal((await reserveOne(driver, { queue })).id, id, 'the job reserved');
      }
    },
  }),
  aCase({
    id: 'wakeups/by-a-batch',
    name: 'A batch that is pushed wakes as a push does',
    rule: 'wakeups',
    needs: ['wakeups', 'batches'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const bell = new Bell();
      await driver.onPush(['b'], bell.ring);
      await other.pushMany([aJob({ queue: 'a' }), aJob({ queue: 'b' })]);
      await bell.rung('a batch');
    },
  }),
  aCase({
    id: 'wakeups/by-a-commit',
    name: 'A push within a transaction wakes once that has committed',
    rule: 'wakeups',
    needs: ['wakeups', 'transactions'],
    run: async ({ driver, connect, begin }) => {
      const other = await connect();
      const bell = new Bell();
      await other.onPush(['default'], bell.ring);
      const transaction = await begin();
      await driver.within(transaction.tx).push(aJob());
      await transaction.commit();
      await bell.rung('a push within a transaction');
    },
  }),
  aCase({
    id: 'wakeups/disposal-ends-it',
    name: 'A subscription that was disposed of wakes no more, the others go on, and disposing twice does no harm',
    rule: 'wakeups',
    needs: ['wakeups'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const ended = new Bell();
      const living = new Bell();
      const subscription = await driver.onPush(['default'], ended.ring);
      await driver.onPush(['default'], living.ring);
      await subscription[Symbol.asyncDispose]();
      await subscription[Symbol.asyncDispose]();
      ended.reset();
      living.reset();
      await other.push(aJob());
      await living.rung('a push after the disposal of another subscription');
      equal(ended.count, 0, 'how often the one disposed of was woken');
    },
  }),
  aCase({
    id: 'wakeups/a-listener-that-throws',
    name: 'A listener that throws does no harm to the push, to the other listeners or to later wakeups',
    rule: 'wakeups',
    needs: ['wakeups'],
    run: async ({ driver, connect }) => {
      const other = await connect();
      const before = new Bell();
      const after = new Bell();
      await driver.onPush(['default'], before.ring);
      await driver.onPush(['default'], () => {
        throw new Error('a listener that throws');
      });
      await driver.onPush(['default'], after.ring);
      for (const round of [1, 2, 3]) {
        before.reset();
        after.reset();
        await other.push(aJob());
        await before.rung(`push ${round}, subscribed before the one that throws`);
        await after.rung(`push ${round}, subscribed after the one that throws`);
      }
    },
  }),
  aCase({
    id: 'wakeups/queues-are-checked',
    name: 'Queues outside the limits are refused by onPush',
    rule: 'text-limits',
    needs: ['wakeups'],
    run: async ({ driver }) => {
      for (const queues of [[''], ['a\0'], [{ id: 1 }], 'default', null]) {
        // The cast: a caller without a type checker.
        await refused(() => driver.onPush(queues as string[], () => {}), INVALID, 'onPush of such queues');
      }
    },
  }),
];

/** What a wakeup rings. */
class Bell {
  count = 0;
  #heard: (() => void) | null = null;

  /** Bound: this is the listener. */
  readonly ring = (): void => {
    this.count += 1;
    this.#heard?.();
  };

  reset(): void {
    this.count = 0;
  }

  /** Resolves when it has rung since the last reset, at once where it has already. */
  async rung(by: string): Promise<void> {
    if (this.count > 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = await new Promise<boolean>((resolve) => {
      this.#heard = () => resolve(true);
      timer = setTimeout(() => resolve(false), SOON_MS);
    });
    clearTimeout(timer);
    if (!heard) fail(`nothing woke within ${SOON_MS / 1000} s of ${by}`);
  }
}
