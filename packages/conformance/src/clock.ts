/** A clock that stands still until it is moved. Its start is on a whole second, and years away from the real time. */
export class Clock {
  #epochMs = Date.parse('2031-05-17T10:20:30.000Z');

  /** What drivers are given; bound, so that it can be passed on alone. */
  readonly now = (): Date => new Date(this.#epochMs);

  /** Moves on by `seconds`, to the millisecond: `advance(0.05)` is 50 ms. Negative: back. */
  advance(seconds: number): void {
    this.#epochMs += Math.round(seconds * 1000);
  }

  /** Jumps to a moment. */
  set(moment: Date | string): void {
    this.#epochMs = new Date(moment).getTime();
  }

  /** The moment `seconds` after the whole second the clock is in: what a stored time is compared with. */
  second(seconds = 0): Date {
    return new Date((Math.floor(this.#epochMs / 1000) + seconds) * 1000);
  }
}
