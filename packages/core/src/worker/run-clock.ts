import type { Clock } from './clock.js';

/** The timers of one run: when that is over, none is left to keep the process alive, whatever never answered. */
export class RunClock implements Clock {
  readonly #clock: Clock;
  readonly #cancels = new Set<() => void>();
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(ms: number, callback: () => void): () => void {
    if (this.#isOver) return () => {};
    const stop = this.#clock.after(ms, () => {
      this.#cancels.delete(cancel);
      callback();
    });
    const cancel = () => {
      this.#cancels.delete(cancel);
      stop();
    };
    this.#cancels.add(cancel);
    return cancel;
  }

  /** Cancels what is waiting. What is asked for afterwards never comes. */
  end(): void {
    this.#isOver = true;
    for (const cancel of this.#cancels) cancel();
  }
}
