import type { Clock } from './clock.js';

/** One waits, others ring. A ring while nobody waits is kept, so none is lost between a look and the wait after it. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Forgets a ring. To be called right before the look that the ring was about. */
  hush(): void {
    this.#rung = false;
  }

  /** Waits for a ring, at most `ms` milliseconds. */
  async wait(ms?: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (ms === undefined) return;
        const cancel = this.#clock.after(ms, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#wake = null;
    this.#rung = false;
  }
}
