import { fdatasyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What a push on purpose not committed is noted with. */
export const ROLLED_BACK = 'rolled back';

/** How a push was made: by itself, in a transaction that commits, or in one that is rolled back. */
export type PushMode = 'plain' | 'commit' | 'rollback';

/** What a call that ends a claim does. `complete` is a deletion in the handler's own transaction. */
export type Closing = 'delete' | 'complete' | 'release' | 'fail';

/**
 * What a process of a storm writes down. A record before a call is there whatever becomes of the process; one after it is
 * missing where the process was killed in between, and the checker has to believe either.
 */
export type Entry =
  /** Before a push. `push` names it for ever, and is in the payload of its job. */
  | {
      readonly what: 'pushing';
      readonly push: string;
      readonly mode: PushMode;
      readonly unique: string | null;
      readonly maxAttempts: number;
    }
  /** The push was acknowledged; in a transaction, its commit was. */
  | { readonly what: 'pushed'; readonly push: string; readonly id: number }
  /** It was refused in so many words, or its transaction was rolled back: the job is not to run. */
  | { readonly what: 'not_pushed'; readonly push: string; readonly error: string }
  /** Nobody can know: its connection was lost before the answer. */
  | { readonly what: 'push_unknown'; readonly push: string; readonly error: string }
  /** A reserve handed out a claim, asked for at `askedMs`, that lasts at least `seconds` from then. */
  | {
      readonly what: 'claimed';
      readonly push: string;
      readonly id: number;
      readonly attempts: number;
      readonly askedMs: number;
      readonly seconds: number;
    }
  /** A renewal, asked for at `askedMs`, was granted. */
  | {
      readonly what: 'extended';
      readonly id: number;
      readonly attempts: number;
      readonly askedMs: number;
      readonly seconds: number;
    }
  /** A handler begins. */
  | {
      readonly what: 'started';
      readonly id: number;
      readonly attempts: number;
      readonly maxAttempts: number;
      readonly push: string;
    }
  | { readonly what: 'ended'; readonly id: number; readonly attempts: number; readonly how: 'returned' | 'thrown' }
  /** Before a call that ends a claim. */
  | { readonly what: 'closing'; readonly id: number; readonly attempts: number; readonly by: Closing }
  /** Its answer. */
  | {
      readonly what: 'closed';
      readonly id: number;
      readonly attempts: number;
      readonly by: Closing;
      readonly acted: boolean;
    }
  /** The transaction in which the job was completed was committed, and the commit answered. */
  | { readonly what: 'committed'; readonly id: number; readonly attempts: number };

/** `atMs` is the machine's monotonic clock, one for all of its processes; `wallMs` is for whoever reads along. */
export type LedgerRecord = Entry & { readonly pid: number; readonly atMs: number; readonly wallMs: number };

/** A process's own page of the ledger: a file outside of the store, on the disk before `write` returns. */
export class Ledger {
  readonly #file: number;

  constructor(folder: string, name: string) {
    this.#file = openSync(join(folder, `${name}.${process.pid}.jsonl`), 'a');
  }

  write(entry: Entry): void {
    const record: LedgerRecord = { ...entry, pid: process.pid, atMs: monotonicMs(), wallMs: Date.now() };
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
    fdatasyncSync(this.#file);
  }
}

/** Milliseconds of a clock that nobody sets, and that all processes of the machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** All pages, in the order of time. The line that a killed process did not finish is what it did not write. */
export function readLedger(folder: string): LedgerRecord[] {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as LedgerRecord) // the cast: written above
    .toSorted((a, b) => a.atMs - b.atMs);
}
