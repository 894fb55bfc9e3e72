import type { EncodedJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

/** What a driver may make of the end of `seconds` from now, in whole seconds. */
type Rounding = (nowMs: number, seconds: number) => number;

/** Which of its ends a driver rounds in a way of its own. */
type End = 'delay' | 'release' | 'claim';

function rounding(end: End, round: Rounding): DriverClass {
  return class extends ReferenceDriver {
    protected override newRow(job: EncodedJob): Row {
      const row = super.newRow(job);
      return end === 'delay' && job.delay > 0 ? { ...row, availableAt: this.#end(job.delay) } : row;
    }
    protected override released(row: Row, delay: number, error: string): void {
      super.released(row, delay, error);
      if (end === 'release' && delay > 0) row.availableAt = this.#end(delay);
    }
    protected override claim(row: Row, timeout: number, worker: string): void {
      super.claim(row, timeout, worker);
      if (end === 'claim' && timeout > 0) row.reservedUntil = this.#end(timeout);
    }
    #end(seconds: number): number {
      return round(this.now().getTime(), seconds);
    }
  };
}

const ROUNDINGS: readonly (readonly [string, string, Rounding])[] = [
  ['050', 'rounds to the nearest second', (ms, seconds) => Math.round(ms / 1000 + seconds)],
  ['050', 'rounds down', (ms, seconds) => Math.floor(ms / 1000 + seconds)],
  // To be on the safe side of a clock that ticks unevenly.
  [
    '999',
    'adds a second late in a second to',
    (ms, seconds) => Math.ceil(ms / 1000 + seconds) + Number(ms % 1000 > 995),
  ],
];

const FAR: readonly (readonly [string, string, (seconds: number) => number])[] = [
  ['1999', 'takes every time before it was written for one ago', (seconds) => Math.max(seconds, 1_600_000_000)],
  ['2038', 'keeps the seconds of the years about 2038 in 31 bits', (seconds) => wrapped(seconds, 2 ** 31)],
  ['2106', 'keeps the seconds of the years about 2106 in 32 bits', (seconds) => wrapped(seconds, 2 ** 32)],
  ['9999', 'keeps the seconds of the year 9999 in the 34 bits of a float', (seconds) => blurred(seconds)],
];

/** What is left of seconds that have just passed the largest that there is. */
function wrapped(seconds: number, end: number): number {
  return seconds >= end && seconds < end + 2 ** 26 ? seconds - end : seconds;
}

/** Seconds without their last bits; those of the last minute, which stands for never, are kept. */
function blurred(seconds: number): number {
  const end = Date.parse('9999-12-31T23:59:00Z') / 1000;
  return seconds > 2 ** 37 && seconds < end ? seconds - (seconds % 16) : seconds;
}

export const times: readonly Mutant[] = [
  ...ROUNDINGS.flatMap(([phase, what, round]) => [
    mutant(`times/delay-from-${phase}`, `${what} the end of a delay`, only(['push'], rounding('delay', round))),
    mutant(
      `times/release-from-${phase}`,
      `${what} the end of a release`,
      only(['release'], rounding('release', round)),
    ),
    mutant(`times/claim-from-${phase}`, `${what} the end of a claim`, only(['reserve'], rounding('claim', round))),
  ]),
  mutant(
    'times/push-due-at-once',
    'rounds the due time of a push without delay up, early in a second',
    class extends ReferenceDriver {
      protected override newRow(job: EncodedJob): Row {
        const row = super.newRow(job);
        return job.delay > 0 ? row : { ...row, availableAt: roundedUpEarly(this.now()) };
      }
    },
  ),
  mutant(
    'times/release-due-at-once',
    'rounds the due time of a release without delay up, early in a second',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        if (delay <= 0) row.availableAt = roundedUpEarly(this.now());
      }
    },
  ),
  mutant(
    'times/whole-seconds',
    'stores the fraction of a second with the deadline of a claim',
    only(
      ['reserve'],
      class extends ReferenceDriver {
        protected override claim(row: Row, timeout: number, worker: string): void {
          super.claim(row, timeout, worker);
          if (timeout > 0) row.reservedUntil = this.now().getTime() / 1000 + timeout;
        }
      },
    ),
  ),
  ...FAR.map(([year, what, bent]) =>
    mutant(
      `times/year-${year}`,
      what,
      class extends ReferenceDriver {
        protected override after(seconds: number): number {
          return bent(super.after(seconds));
        }
      },
    ),
  ),
];

/** Rounded up within the first tenth of a second, down after that. */
function roundedUpEarly(now: Date): number {
  const ms = now.getTime();
  return ms % 1000 < 100 ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
}
