/** The one place where time enters a worker. Tests give one they move by hand. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. Its zero means nothing. */
  monotonicMs(): number;
  /** Calls back once, `ms` milliseconds from now, unless the function it returns was called before. Any `ms` is fine. */
  after(ms: number, callback: () => void): () => void;
}

// Node fires a longer timer at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  after(ms, callback) {
    const dueMs = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const look = () => {
      const restMs = dueMs - performance.now();
      if (restMs > 0) wait(restMs);
      else callback();
    };
    const wait = (restMs: number) => {
      // Rounded up: Node cuts off fractions, and would fire early.
      timer = setTimeout(look, Math.min(Math.ceil(restMs), LONGEST_TIMER_MS));
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
