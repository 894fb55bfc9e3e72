import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

/** What a driver may make of the end of `seconds` from now, in whole seconds. */
type Rounding = (nowMs: number, seconds: number) => number;

/** Which of its ends a driver rounds in a way of its own. */
type End = 'delay' | 'release' | 'claim';

function rounding(end: End, round: Rounding): DriverClass {
  return class extends ReferenceDriver {
    protected override newRow(job: Parameters<ReferenceDriver['newRow']>[0]): Row {
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
  ['000', 'adds a second to be safe to', (ms, seconds) => Math.floor(ms / 1000) + seconds + 1],
  ['050', 'rounds to the nearest second', (ms, seconds) => Math.round(ms / 1000 + seconds)],
  ['950', 'rounds down', (ms, seconds) => Math.floor(ms / 1000 + seconds)],
  // Ten milliseconds of grace against a clock that ticks unevenly: enough to be early.
  ['999', 'adds two seconds late in a second to', (ms, seconds) => Math.ceil((ms + 5) / 1000) + seconds],
];

const FAR: readonly (readonly [string, string, (seconds: number) => number])[] = [
  ['1999', 'takes every time before it was written for one ago', (seconds) => Math.max(seconds, 1_600_000_000)],
  ['2038', 'keeps seconds in 31 bits', (seconds) => seconds % 2 ** 31],
  ['2106', 'keeps seconds in 32 bits', (seconds) => seconds % 2 ** 32],
  ['9999', 'keeps seconds in the 24 bits of a float', (seconds) => Math.fround(seconds)],
];

export const times: readonly Mutant[] = [
  ...ROUNDINGS.flatMap(([phase, what, round]) => [
    mutant(`times/delay-from-${phase}`, `${what} the end of a delay`, rounding('delay', round)),
    mutant(`times/release-from-${phase}`, `${what} the end of a release`, rounding('release', round)),
    mutant(`times/claim-from-${phase}`, `${what} the end of a claim`, rounding('claim', round)),
  ]),
  mutant(
    'times/push-due-at-once',
    'rounds the due time of a push without delay up',
    class extends ReferenceDriver {
      protected override newRow(job: Parameters<ReferenceDriver['newRow']>[0]): Row {
        const row = super.newRow(job);
        return job.delay > 0 ? row : { ...row, availableAt: Math.ceil(this.now().getTime() / 1000) };
      }
    },
  ),
  mutant(
    'times/release-due-at-once',
    'rounds the due time of a release without delay up',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        if (delay <= 0) row.availableAt = Math.ceil(this.now().getTime() / 1000);
      }
    },
  ),
  mutant(
    'times/whole-seconds',
    'stores the fraction of a second with the time of a push',
    class extends ReferenceDriver {
      protected override newRow(job: Parameters<ReferenceDriver['newRow']>[0]): Row {
        return { ...super.newRow(job), createdAt: this.now().getTime() / 1000 };
      }
    },
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
