import type { ReservedJob } from '@q/core';
import {
  CLAIM_ROUNDS,
  type ClaimRequest,
  decodePayload,
  type EncodedJob,
  UNDECODABLE_PAYLOAD,
} from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import { type DriverClass, referenceHarness } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant, only } from './mutant.js';

/** A driver that makes a payload of its own of certain texts that hold none. */
function taking(matches: RegExp): DriverClass {
  return class extends ReferenceDriver {
    protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
      const taken = decodePayload(row.payloadJson) === null && matches.test(row.payloadJson);
      return super.inHand(taken ? { ...row, payloadJson: '{}' } : row, reclaimed);
    }
  };
}

const TAKEN: readonly (readonly [string, RegExp])[] = [
  ['empty', /^$/],
  ['nonsense', /^nonsense$/],
  ['cut-off', /^{"a":$/],
  ['single-quotes', /'/],
  ['number', /^42$/],
  ['text', /^"text"$/],
  ['boolean', /^true$/],
  ['null', /^null$/],
  ['one-too-many', /^{}{}$/],
  ['php-object', /^O:8/],
];

interface Rounds {
  readonly rounds: number;
  /** Whether each queue has these rounds, or all of them together. */
  readonly each: boolean;
  /** In which rounds a job may be found. */
  readonly fruitful: number;
}

/** A driver that gives a reserve another number of rounds. */
function withRounds({ rounds, each, fruitful }: Rounds): DriverClass {
  return class extends ReferenceDriver {
    protected override async take({ queues, timeout, worker }: ClaimRequest): Promise<ReservedJob | null> {
      let round = 0;
      for (const queue of queues) {
        for (round = each ? 0 : round; round < rounds; round += 1) {
          const seen = this.candidate(queue);
          if (seen === undefined || (round >= fruitful && decodePayload(seen.payloadJson) !== null)) break;
          await this.roundTrip();
          const job = this.claimSeen(seen, timeout, worker);
          if (job !== null) return job;
        }
      }
      return null;
    }
  };
}

export const brokenRows: readonly Mutant[] = [
  ...TAKEN.map(([id, text]) =>
    mutant(`undecodable/${id}`, `runs jobs whose payload is no JSON object: ${id}`, taking(text)),
  ),
  mutant(
    'undecodable/nonsense',
    'fails a broken payload without counting the attempt',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(error === UNDECODABLE_PAYLOAD ? { ...row, attempts: row.attempts - 1 } : row, error);
      }
    },
  ),
  mutant(
    'undecodable/alone-is-null',
    'fails a broken payload a second time a day later',
    class extends ReferenceDriver {
      readonly #failed: Row[] = [];
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(row, error);
        if (error === UNDECODABLE_PAYLOAD) this.#failed.push({ ...row, availableAt: this.after(86_400) });
      }
      protected override take(request: ClaimRequest): Promise<ReservedJob | null> {
        for (const row of this.#failed.filter((one) => this.isDue(one))) this.store.jobs.set(row.id, row);
        return super.take(request);
      }
    },
  ),
  mutant(
    'undecodable/expired-claim',
    'leaves a broken payload alone whose claim has expired',
    class extends ReferenceDriver {
      protected override claimSeen(seen: Row, timeout: number, worker: string): ReservedJob | null {
        const isLeft = seen.reservedUntil !== null && decodePayload(seen.payloadJson) === null;
        return isLeft ? null : super.claimSeen(seen, timeout, worker);
      }
    },
  ),
  mutant(
    'undecodable/frees-its-key',
    'keeps the key of a broken payload',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        super.moveToFailed(row, error);
        // A stub that is never due goes on holding the key.
        if (error === UNDECODABLE_PAYLOAD && row.unique !== null) {
          this.store.jobs.set(row.id, { ...row, availableAt: 2 ** 40 });
        }
      }
    },
  ),
  mutant(
    'undecodable/four-rounds-are-spare',
    'finds no job in the fifth round',
    withRounds({ rounds: CLAIM_ROUNDS, each: true, fruitful: 4 }),
  ),
  mutant(
    'undecodable/five-rounds-end-a-queue',
    'goes on for six rounds',
    withRounds({ rounds: 6, each: true, fruitful: 6 }),
  ),
  mutant(
    'undecodable/rounds-are-per-queue',
    'has five rounds for all queues together',
    withRounds({ rounds: CLAIM_ROUNDS, each: false, fruitful: CLAIM_ROUNDS }),
  ),
  mutant(
    'undecodable/deep-nesting',
    'walks a payload by recursion when it hands it out',
    class extends ReferenceDriver {
      protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
        const job = super.inHand(row, reclaimed);
        if (job !== null) JSON.stringify(job.payload);
        return job;
      }
    },
  ),
  mutant(
    'undecodable/in-a-batch',
    'has five rounds for the broken payloads of a whole batch',
    only(
      ['reserveMany'],
      class extends ReferenceDriver {
        #broken = 0;
        protected override takeAll(request: ClaimRequest): Promise<ReservedJob[]> {
          this.#broken = 0;
          return super.takeAll(request);
        }
        protected override moveToFailed(row: Row, error: string): void {
          this.#broken += 1;
          super.moveToFailed(row, error);
        }
        protected override mayFollow(seen: Row, jobs: readonly ReservedJob[]): boolean {
          return super.mayFollow(seen, jobs) && (jobs.length === 0 || this.#broken < CLAIM_ROUNDS);
        }
      },
    ),
  ),
  {
    what: 'has a table in which a row has one attempt where it does not say',
    caughtBy: 'raw-rows/required-columns',
    harness: withOneAttempt(),
  },
  mutant(
    'raw-rows/whole-life',
    'makes a row that it has not written itself due at once when it is released',
    class extends ReferenceDriver {
      readonly #own = new Set<number>();
      protected override newRow(job: EncodedJob): Row {
        const row = super.newRow(job);
        this.#own.add(row.id);
        return row;
      }
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, this.#own.has(row.id) ? delay : 0, error);
      }
    },
  ),
  mutant(
    'raw-rows/large-ids',
    'keeps ids in 32 bits',
    class extends ReferenceDriver {
      protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
        return super.inHand({ ...row, id: row.id | 0 }, reclaimed);
      }
    },
  ),
  mutant(
    'raw-rows/ids-beyond-a-number',
    'hands out a row under an id that was rounded',
    class extends ReferenceDriver {
      protected override isAddressable(): boolean {
        return true;
      }
    },
  ),
];

function withOneAttempt() {
  const harness = referenceHarness();
  return {
    ...harness,
    open: async (options: Parameters<typeof harness.open>[0]) => {
      const store = await harness.open(options);
      const insertRow: typeof store.insertRow = async (row) => store.insertRow?.({ maxAttempts: 1, ...row }) ?? 0;
      return { ...store, insertRow };
    },
  };
}
