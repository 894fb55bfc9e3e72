import { AsyncLocalStorage } from 'node:async_hooks';
import type { InTransaction, QueueWarning } from './driver.js';
import { QueueError } from './errors.js';
import { kindOf, shown } from './limits.js';

/** What becomes of a push beside an open transaction: it is warned of and happens, or it is refused. */
export type GuardMode = 'warn' | 'error';

/** An option as it may be given. Throws `invalid_option`. */
export function checkGuard(value: unknown): GuardMode | null {
  if (value === undefined) return null;
  if (value === 'warn' || value === 'error') return value;
  const got = typeof value === 'string' ? shown(value) : kindOf(value);
  throw new QueueError('invalid_option', `The guard of a Queue is 'warn' or 'error', or is left out; got ${got}`);
}

/**
 * A development aid against the push that was meant to be `within(tx)`: a plain one made where a transaction is open that the
 * queue was told of. Such a job stays when the transaction rolls back, and can run before it commits.
 *
 * What it goes by is the asynchronous context: a transaction belongs to the function that told of it, and to what that
 * function calls and awaits from then on; not to its caller, and not to what was under way already. Whether it is still
 * open is asked of the driver, at the push.
 */
export class PushGuard {
  readonly #mode: GuardMode;
  readonly #warn: (warning: QueueWarning) => void;
  readonly #told = new AsyncLocalStorage<InTransaction | undefined>();

  constructor(mode: GuardMode, warn: (warning: QueueWarning) => void) {
    this.#mode = mode;
    this.#warn = warn;
    // Until a storage is first entered, Node 20 follows no promises: what already waited then would wake up in the wrong one.
    this.#told.enterWith(undefined);
  }

  /** The transaction that the current context works in from here on. */
  enter(transaction: InTransaction): void {
    this.#told.enterWith(transaction);
  }

  /** Before a plain push of `what`. Rejects with `transaction_open` where the mode is `'error'`. */
  async check(what: string): Promise<void> {
    const transaction = this.#told.getStore();
    if (transaction === undefined) return;
    // Made before anything is awaited, while the stack still leads to whoever pushes.
    const error = new QueueError(
      'transaction_open',
      `${what} is pushed while a transaction is open, but not within it: the push stays when the transaction rolls back, ` +
        'and may run before it commits. Use queue.within(tx), or push once the transaction has ended',
    );
    // A driver that cannot tell has its word taken for as long as the context lasts.
    if (!((await transaction.isOpen?.()) ?? true)) return;
    if (this.#mode === 'error') throw error;
    this.#warn({ code: error.code, message: error.message, stack: error.stack });
  }
}
