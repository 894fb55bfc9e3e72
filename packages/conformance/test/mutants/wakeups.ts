import type { InTransaction, NewJob } from '@q/core';
import { ReferenceDriver } from '../reference-driver.js';
import type { Listener, MemoryTransaction } from '../reference-store.js';
import { isQueue, type Mutant, mutant } from './mutant.js';

export const wakeups: readonly Mutant[] = [
  mutant(
    'wakeups/by-the-same-client',
    'wakes for the pushes of others alone',
    class extends ReferenceDriver {
      readonly #mine = new Set<Listener>();
      override async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
        const before = new Set(this.store.listeners);
        const subscription = await super.onPush(queues, wake);
        for (const listener of this.store.listeners) if (!before.has(listener)) this.#mine.add(listener);
        return subscription;
      }
      override async push(job: NewJob): Promise<number> {
        const mine = [...this.#mine].filter((listener) => this.store.listeners.delete(listener));
        const id = await super.push(job);
        for (const listener of mine) this.store.listeners.add(listener);
        return id;
      }
    },
  ),
  mutant(
    'wakeups/any-queue-named',
    'wakes for the first queue alone',
    class extends ReferenceDriver {
      protected override listen({ queues, wake }: Listener): AsyncDisposable {
        return super.listen({ queues: queues.slice(0, 1), wake });
      }
    },
  ),
  mutant(
    'wakeups/disposal-ends-it',
    'goes on waking after the disposal',
    class extends ReferenceDriver {
      protected override listen(listener: Listener): AsyncDisposable {
        super.listen(listener);
        return { [Symbol.asyncDispose]: async () => {} };
      }
    },
  ),
  mutant(
    'wakeups/a-listener-that-throws',
    'lets the error of a listener reach who pushed',
    class extends ReferenceDriver {
      override async push(job: NewJob): Promise<number> {
        const id = await super.push(job);
        for (const { wake } of this.store.listeners) wake();
        return id;
      }
    },
  ),
  mutant(
    'wakeups/by-a-batch',
    'does not wake for a batch',
    class extends ReferenceDriver {
      override async pushMany(jobs: readonly NewJob[]): Promise<number[]> {
        const listeners = [...this.store.listeners];
        this.store.listeners.clear();
        const ids = await super.pushMany(jobs);
        for (const listener of listeners) this.store.listeners.add(listener);
        return ids;
      }
    },
  ),
  mutant(
    'wakeups/by-a-commit',
    'does not wake for what a transaction has pushed',
    class extends ReferenceDriver {
      override within(tx: MemoryTransaction): InTransaction {
        this.store.listeners.clear();
        return super.within(tx);
      }
    },
  ),
  mutant(
    'wakeups/queues-are-checked',
    'listens to anything',
    class extends ReferenceDriver {
      override async onPush(queues: readonly string[], wake: () => void): Promise<AsyncDisposable> {
        return super.onPush(Array.isArray(queues) ? queues.filter(isQueue) : [], wake);
      }
    },
  ),
];
