/** Which jobs had their effect, and how often: a run that loses or doubles one has failed, however fast it was. */
export class Counting {
  readonly complete: Promise<void>;
  readonly #times: Uint8Array;
  readonly #batch: number;
  #startMs = Number.NaN;
  #lastMs = Number.NaN;
  #strangers = 0;
  #distinct = 0;
  #completed: () => void = () => {};

  /** `batch`: how many jobs may be in hand before the clock starts. The rate leaves out as many. */
  constructor(jobs: number, batch = 1) {
    this.#times = new Uint8Array(jobs);
    this.#batch = batch;
    this.complete = new Promise((resolve) => {
      this.#completed = resolve;
    });
  }

  /** How many different jobs have had their effect so far. */
  get distinct(): number {
    return this.#distinct;
  }

  /** Jobs per second, from the last effect of the first batch to the last of all. NaN without a second batch. */
  get rate(): number {
    const jobs = this.#times.length - this.#batch;
    return jobs > 0 ? (jobs * 1000) / (this.#lastMs - this.#startMs) : Number.NaN;
  }

  effect(job: number): void {
    const times = this.#times[job];
    if (times === undefined) {
      this.#strangers++;
      return;
    }
    this.#times[job] = Math.min(times + 1, 255);
    if (times > 0) return;
    this.#distinct++;
    if (this.#distinct === this.#batch) this.#startMs = performance.now();
    if (this.#distinct < this.#times.length) return;
    this.#lastMs = performance.now();
    this.#completed();
  }

  /** What is wrong, in words, or null. `left`: jobs that the store still holds at the end. */
  fault(left: number): string | null {
    const lost = this.#times.length - this.#distinct;
    const doubled = this.#times.filter((times) => times > 1).length;
    const faults = { lost, doubled, 'never pushed': this.#strangers, 'left in the store': left };
    const found = Object.entries(faults).filter(([, jobs]) => jobs !== 0);
    return found.length === 0 ? null : found.map(([what, jobs]) => `${jobs} ${what}`).join(', ');
  }
}
