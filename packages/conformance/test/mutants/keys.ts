import type { Claim } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { FailedRow, MemoryStore, Row } from '../reference-store.js';
import { Doers, encoding, type Mutant, mutant, only } from './mutant.js';

/** A driver that compares keys by what `fold` makes of them, in a plain push. */
function folding(fold: (key: string) => string | number): DriverClass {
  return only(
    ['push'],
    class extends ReferenceDriver {
      protected override sameKey(a: string, b: string): boolean {
        return fold(a) === fold(b);
      }
    },
  );
}

const FOLDS: readonly (readonly [string, string, (key: string) => string | number])[] = [
  ['case', 'case', (key) => key.toLowerCase()],
  [
    'accents',
    'one accent and another',
    (key) => key.replace(/[\u00e0-\u00ff]/g, (letter) => letter.normalize('NFD')[0] ?? ''),
  ],
  ['normalisation', 'normal forms', (key) => key.normalize('NFKC')],
  ['sharp-s', 'ß and ss', (key) => key.replaceAll('ß', 'ss')],
  ['emoji', 'one emoji and another', (key) => key.replace(/\p{Extended_Pictographic}/gu, '?')],
  ['invisible', 'invisible characters', (key) => key.replace(/\p{Cf}/gu, '')],
  ['numeric', 'numbers written differently', (key) => (Number.isNaN(Number(key)) ? key : Number(key))],
  ['last-character', 'what comes after the first 189 characters', (key) => key.slice(0, 189)],
];

/** A driver that remembers the holder of a key that it has found held, and gives its id as long as `isKept` says. */
function remembering(
  isKept: (holder: { readonly isJob: boolean; readonly isFailed: boolean }) => boolean,
): DriverClass {
  return class extends ReferenceDriver {
    readonly #found = new Map<string, Row>();
    protected override async pushOne(job: EncodedJob): Promise<number> {
      const found = this.#found.get(job.unique ?? '');
      if (found !== undefined && isKept(this.#whereabouts(found))) return found.id;
      const holder = this.holderOf(job.unique, this.store.jobs.values());
      if (job.unique !== null && holder !== undefined) this.#found.set(job.unique, holder);
      return super.pushOne(job);
    }
    #whereabouts({ id, payloadJson }: Row) {
      const isFailed = [...this.store.failed.values()].some((row) => row.payloadJson === payloadJson);
      return { isJob: this.store.jobs.has(id), isFailed };
    }
  };
}

/** A driver, all of whose clients keep the key of a job that `method` has ended. */
function keeping(method: 'delete' | 'fail'): DriverClass {
  const kept = new WeakMap<MemoryStore, Map<string, number>>();
  return class extends ReferenceDriver {
    override delete(claim: Claim): Promise<boolean> {
      if (method === 'delete') this.#keep(claim);
      return super.delete(claim);
    }
    override fail(claim: Claim, error: string): Promise<boolean> {
      if (method === 'fail') this.#keep(claim);
      return super.fail(claim, error);
    }
    protected override async pushOne(job: EncodedJob): Promise<number> {
      return kept.get(this.store)?.get(job.unique ?? '') ?? super.pushOne(job);
    }
    #keep(claim: Claim): void {
      const row = this.store.jobs.get(claim?.id);
      const keys = kept.get(this.store) ?? new Map<string, number>();
      if (row?.unique != null) kept.set(this.store, keys.set(row.unique, row.id));
    }
  };
}

/** A driver for which a key is one of a queue, where another client holds it. */
function keysByQueue(): DriverClass {
  const pushers = new Doers();
  return class extends ReferenceDriver {
    protected override async pushOne(job: EncodedJob): Promise<number> {
      const holder = this.holderOf(job.unique, this.store.jobs.values());
      const isOverlooked = holder !== undefined && holder.queue !== job.queue && pushers.isAnother(holder, this);
      const id = await super.pushOne(isOverlooked ? { ...job, unique: null } : job);
      const row = this.store.jobs.get(id);
      if (row !== undefined && holder === undefined) pushers.note(row, this);
      return id;
    }
  };
}

/** A driver that knows the keys of rows that a driver has pushed, no others. */
function knowingPushed(): DriverClass {
  const pushed = new WeakSet<Row>();
  return class extends ReferenceDriver {
    protected override newRow(job: EncodedJob): Row {
      const row = super.newRow(job);
      pushed.add(row);
      return row;
    }
    protected override holderOf(key: string | null, rows: Iterable<Row>): Row | undefined {
      return super.holderOf(
        key,
        [...rows].filter((row) => pushed.has(row)),
      );
    }
  };
}

export const keys: readonly Mutant[] = [
  ...FOLDS.map(([id, what, fold]) => mutant(`unique/${id}`, `does not tell ${what} apart in keys`, folding(fold))),
  mutant('unique/one-job', 'keeps keys by queue, where another client holds them', keysByQueue()),
  mutant(
    'unique/changes-nothing',
    'updates the holder of a key with what is pushed',
    class extends ReferenceDriver {
      protected override async pushOne(job: EncodedJob): Promise<number> {
        const holder = this.holderOf(job.unique, this.store.jobs.values());
        if (holder !== undefined) holder.payloadJson = job.payloadJson;
        return super.pushOne(job);
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
    'takes a key for free when the claim of its holder has expired',
    class extends ReferenceDriver {
      protected override holderOf(key: string | null, rows: Iterable<Row>): Row | undefined {
        const holder = super.holderOf(key, rows);
        const isExpired = holder !== undefined && holder.reservedUntil !== null && !this.isHeld(holder);
        return isExpired ? undefined : holder;
      }
    },
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
  mutant('unique/freed-by-delete', 'keeps the key of a job that is done', keeping('delete')),
  mutant('unique/freed-by-fail', 'keeps the key of a job that failed', keeping('fail')),
  mutant(
    'unique/freed-by-delete',
    'goes on giving the id of a holder that it found, though its job is done',
    remembering(({ isJob, isFailed }) => !isJob && !isFailed),
  ),
  mutant(
    'unique/freed-by-fail',
    'goes on giving the id of a holder that it found, though its job has failed',
    remembering(({ isFailed }) => isFailed),
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
      protected override async pushOne(job: EncodedJob): Promise<number> {
        const holder = this.holderOf(job.unique, this.store.jobs.values());
        if (this.store.open.size > 0) return super.pushOne(job);
        await this.roundTrip();
        return holder?.id ?? this.insert({ ...job, unique: this.#isTaken(job) ? null : job.unique }, null);
      }
      #isTaken({ unique }: EncodedJob): boolean {
        return this.holderOf(unique, this.store.jobs.values()) !== undefined;
      }
    },
  ),
  mutant(
    'unique/race-with-delete',
    'fails a push whose holder is done by the time it is read',
    class extends ReferenceDriver {
      protected override async pushOne(job: EncodedJob): Promise<number> {
        const holder = this.holderOf(job.unique, this.store.jobs.values());
        if (holder === undefined) return super.pushOne(job);
        await this.roundTrip();
        const row = this.store.jobs.get(holder.id);
        if (row === undefined) throw new Error('the holder is gone');
        return row.id;
      }
    },
  ),
  mutant('raw-rows/holds-its-key', 'knows only the keys that were pushed', knowingPushed()),
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
      protected override async allStats() {
        const byName = new Map((await super.allStats()).map((one) => [one.queue.toLowerCase(), one]));
        return [...byName.values()];
      }
    },
  ),
];
