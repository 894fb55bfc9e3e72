import type { Claim, NewJob } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { FailedRow, MemoryTransaction, Row } from '../reference-store.js';
import { encoding, type Mutant, mutant } from './mutant.js';

/** A driver that compares keys by what `fold` makes of them. */
function folding(fold: (key: string) => string | number): DriverClass {
  return class extends ReferenceDriver {
    protected override sameKey(a: string, b: string): boolean {
      return fold(a) === fold(b);
    }
  };
}

const FOLDS: readonly (readonly [string, string, (key: string) => string | number])[] = [
  ['case', 'case', (key) => key.toLowerCase()],
  ['accents', 'accents', (key) => key.normalize('NFD').replace(/\p{M}/gu, '')],
  ['normalisation', 'normal forms', (key) => key.normalize('NFKC')],
  ['sharp-s', 'ß and ss', (key) => key.replaceAll('ß', 'ss')],
  ['emoji', 'one emoji and another', (key) => key.replace(/\p{Extended_Pictographic}/gu, '?')],
  ['invisible', 'invisible characters', (key) => key.replace(/\p{Cf}/gu, '')],
  ['numeric', 'numbers written differently', (key) => (Number.isNaN(Number(key)) ? key : Number(key))],
  ['last-character', 'what comes after the first 189 characters', (key) => key.slice(0, 189)],
];

export const keys: readonly Mutant[] = [
  ...FOLDS.map(([id, what, fold]) => mutant(`unique/${id}`, `does not tell ${what} apart in keys`, folding(fold))),
  mutant(
    'unique/one-job',
    'keeps keys by queue',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const holder = this.holderOf(job.unique, [...this.store.jobs.values()]);
        if (holder === undefined || holder.queue === job.queue) return super.insertNow(job, tx);
        const row = this.newRow(job);
        this.store.add(row);
        return row.id;
      }
    },
  ),
  mutant(
    'unique/changes-nothing',
    'updates the holder of a key with what is pushed',
    class extends ReferenceDriver {
      protected override insertNow(job: EncodedJob, tx: MemoryTransaction | null): number | MemoryTransaction {
        const holder = this.holderOf(job.unique, [...this.store.jobs.values()]);
        if (holder !== undefined) holder.payloadJson = job.payloadJson;
        return super.insertNow(job, tx);
      }
    },
  ),
  mutant(
    'unique/no-key',
    'takes the empty text for a key',
    encoding((job) => ({ ...encodeJob(job), unique: job.unique ?? null })),
  ),
  mutant(
    'unique/held-until-done',
    'frees a key when its job is released',
    class extends ReferenceDriver {
      protected override released(row: Row, delay: number, error: string): void {
        super.released(row, delay, error);
        row.unique = null;
      }
    },
  ),
  mutant(
    'unique/held-until-done',
    'frees a key when its job is reserved',
    class extends ReferenceDriver {
      protected override claim(row: Row, timeout: number, worker: string): void {
        super.claim(row, timeout, worker);
        row.unique = null;
      }
    },
  ),
  mutant(
    'unique/freed-by-delete',
    'keeps the key of a job that is done',
    class extends ReferenceDriver {
      readonly #kept = new Map<string, number>();
      override async delete(claim: Claim): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row?.unique != null) this.#kept.set(row.unique, row.id);
        return super.delete(claim);
      }
      override async push(job: NewJob): Promise<number> {
        return this.#kept.get(job.unique ?? '') ?? super.push(job);
      }
    },
  ),
  mutant(
    'unique/freed-by-fail',
    'keeps the key of a job that failed',
    class extends ReferenceDriver {
      readonly #kept = new Map<string, number>();
      override async fail(claim: Claim, error: string): Promise<boolean> {
        const row = this.store.jobs.get(claim.id);
        if (row?.unique != null) this.#kept.set(row.unique, row.id);
        return super.fail(claim, error);
      }
      override async push(job: NewJob): Promise<number> {
        return this.#kept.get(job.unique ?? '') ?? super.push(job);
      }
    },
  ),
  mutant(
    'unique/not-given-back',
    'gives a requeued job its key back',
    class extends ReferenceDriver {
      readonly #keys: (string | null)[] = [];
      protected override moveToFailed(row: Row, error: string): void {
        this.#keys.push(row.unique);
        super.moveToFailed(row, error);
      }
      protected override requeued(failed: FailedRow, maxAttempts: number): Row {
        return { ...super.requeued(failed, maxAttempts), unique: this.#keys.pop() ?? null };
      }
    },
  ),
  mutant(
    'unique/race',
    'looks for the holder of a key and stores the job a round trip later',
    class extends ReferenceDriver {
      override async push(job: NewJob): Promise<number> {
        const encoded = this.encode(job);
        const holder = this.holderOf(encoded.unique, [...this.store.jobs.values()]);
        await this.roundTrip();
        return holder?.id ?? this.insert({ ...encoded, unique: holder?.unique ?? null }, null);
      }
    },
  ),
  mutant(
    'unique/race-with-delete',
    'fails a push whose holder is done by the time it is read',
    class extends ReferenceDriver {
      override async push(job: NewJob): Promise<number> {
        const holder = this.holderOf(job.unique, [...this.store.jobs.values()]);
        if (holder === undefined) return super.push(job);
        await this.roundTrip();
        const row = this.store.jobs.get(holder.id);
        if (row === undefined) throw new Error('the holder is gone');
        return row.id;
      }
    },
  ),
  mutant(
    'raw-rows/holds-its-key',
    'knows only the keys that it pushed itself',
    class extends ReferenceDriver {
      readonly #pushed = new Set<string>();
      protected override newRow(job: EncodedJob): Row {
        if (job.unique !== null) this.#pushed.add(job.unique);
        return super.newRow(job);
      }
      protected override holderOf(key: string | null, rows: readonly Row[]): Row | undefined {
        return key !== null && this.#pushed.has(key) ? super.holderOf(key, rows) : undefined;
      }
    },
  ),
  mutant(
    'limits/queues-byte-for-byte',
    'does not tell case apart in queues',
    class extends ReferenceDriver {
      protected override sameQueue(a: string, b: string): boolean {
        return a.toLowerCase() === b.toLowerCase();
      }
    },
  ),
  mutant(
    'stats/byte-for-byte',
    'groups the stats of queues without case',
    class extends ReferenceDriver {
      override async stats() {
        const byName = new Map((await super.stats()).map((one) => [one.queue.toLowerCase(), one]));
        return [...byName.values()];
      }
    },
  ),
];
