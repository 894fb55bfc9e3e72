import type { Clock } from '@q/core';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Time that only moves when a test says so: the worker's clock and the driver's `now` at once. */
export class TestTime implements Clock {
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();

  constructor(start = new Date('2027-01-01T00:00:00Z')) {
    this.#startMs = start.getTime();
  }

  readonly now = (): Date => new Date(this.#startMs + this.#elapsedMs);

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are waiting. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Lets everything that can happen now happen. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 25; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves on by `ms`, stopping at every timer on the way. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await this.settle();
    for (;;) {
      const due = this.#next(endMs);
      if (due.length === 0) break;
      // As in Node, timers of one moment fire in one turn.
      for (const timer of due) {
        if (!this.#timers.delete(timer)) continue;
        this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
        timer.callback();
        await null;
      }
      await this.settle();
    }
    this.#elapsedMs = endMs;
    await this.settle();
  }

  /** Moves on by `ms` in one leap, as for a process that was stopped or blocked: no timer fires on the way. */
  jump(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** The timers of the next moment at which any is due. */
  #next(endMs: number): Timer[] {
    const nextMs = Math.min(...[...this.#timers].map((timer) => timer.dueMs));
    return nextMs > endMs ? [] : [...this.#timers].filter((timer) => timer.dueMs === nextMs);
  }
}
