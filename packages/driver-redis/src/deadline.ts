// A timer for longer fires at once.
const LONGEST_TIMER_MS = 2_147_483_647;

/** A call of the driver's, and until when it may take. */
export class Deadline {
  readonly #endMs: number;

  /** `ms` from now, on the monotonic clock. */
  constructor(ms: number) {
    this.#endMs = performance.now() + ms;
  }

  get leftMs(): number {
    return Math.min(Math.max(0, this.#endMs - performance.now()), LONGEST_TIMER_MS);
  }

  /** What `work` gives, if it does by the deadline; else rejects with `late()`. `work` goes on, and its end is ignored. */
  async wait<T>(work: Promise<T>, late: () => Error): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late()), this.leftMs);
    });
    try {
      return await Promise.race([work, isLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}
