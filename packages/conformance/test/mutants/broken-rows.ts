import type { ReservedJob } from '@q/core';
import { decodePayload, UNDECODABLE_PAYLOAD } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { type Mutant, mutant } from './mutant.js';

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

/** A driver that gives each queue, or each reserve, another number of rounds. */
function withRounds(rounds: number, perQueue = true): DriverClass {
  return class extends ReferenceDriver {
    #left = rounds;
    override async reserve(queues: readonly string[], timeout: number, worker: string): Promise<ReservedJob | null> {
      this.#left = rounds;
      for (const queue of queues) {
        if (perQueue) this.#left = rounds;
        for (; this.#left > 0; this.#left -= 1) {
          const seen = this.candidate(queue);
          if (seen === undefined) break;
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
    'leaves a broken payload claimed, to be found again',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        if (error !== UNDECODABLE_PAYLOAD) super.moveToFailed(row, error);
      }
    },
  ),
  mutant(
    'undecodable/expired-claim',
    'leaves a broken payload that was taken over for the next takeover',
    class extends ReferenceDriver {
      protected override moveToFailed(row: Row, error: string): void {
        if (error !== UNDECODABLE_PAYLOAD || row.attempts < 2) super.moveToFailed(row, error);
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
        if (error === UNDECODABLE_PAYLOAD) this.store.jobs.set(row.id, { ...row, availableAt: 2 ** 40 });
      }
    },
  ),
  mutant('undecodable/four-rounds-are-spare', 'gives up after four rounds', withRounds(4)),
  mutant('undecodable/five-rounds-end-a-queue', 'goes on for six rounds', withRounds(6)),
  mutant('undecodable/rounds-are-per-queue', 'has five rounds for all queues together', withRounds(5, false)),
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
    'has five rounds for a whole batch',
    class extends ReferenceDriver {
      override async reserveMany(queues: readonly string[], limit: number, timeout: number, worker: string) {
        return super.reserveMany(queues, Math.min(limit, 5), timeout, worker);
      }
    },
  ),
  mutant(
    'raw-rows/required-columns',
    'overlooks rows that it has not written itself',
    class extends ReferenceDriver {
      readonly #own = new WeakSet<Row>();
      protected override newRow(job: Parameters<ReferenceDriver['newRow']>[0]): Row {
        const row = super.newRow(job);
        this.#own.add(row);
        return row;
      }
      protected override isPending(row: Row): boolean {
        return super.isPending(row) && this.#own.has(row);
      }
    },
  ),
  mutant(
    'raw-rows/whole-life',
    'cannot release a row that it has not written itself',
    class extends ReferenceDriver {
      readonly #own = new Set<number>();
      protected override newRow(job: Parameters<ReferenceDriver['newRow']>[0]): Row {
        const row = super.newRow(job);
        this.#own.add(row.id);
        return row;
      }
      protected override released(row: Row, delay: number, error: string): void {
        if (this.#own.has(row.id)) super.released(row, delay, error);
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
