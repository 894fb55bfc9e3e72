import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

type Value = object | string | number;

/** A line of the file: what it writes, and under which keys its writer had read what. */
interface Line {
  readonly id: string;
  /** The number of the line that wrote the key last; 0: nothing is under it. */
  readonly read: Readonly<Record<string, number>>;
  /** null deletes. */
  readonly write: Readonly<Record<string, Value | null>>;
}

interface Entry {
  readonly value: Value;
  readonly line: number;
}

/**
 * A store in one append-only file, shared by any number of processes of one machine without a lock.
 *
 * A transaction is a line, and the order of the lines is the order of events. A line takes effect if nothing that its
 * writer had read was written in between; everybody who plays the file comes to the same answer, the writer too, who then
 * tries again. A line is one write to a file opened for appending, so lines do not mix; one that a killed process left
 * unfinished is no JSON, and counts for nothing.
 */
export class Journal {
  readonly #file: number;
  readonly #entries = new Map<string, Entry>();
  readonly #buffer = Buffer.alloc(64 * 1024);
  #position = 0;
  #unfinished = Buffer.alloc(0);
  #lines = 0;
  /** The line that this process has just written, until it has read how it went. */
  #own: { readonly id: string; accepted: boolean } | null = null;

  constructor(path: string) {
    this.#file = openSync(path, 'a+');
  }

  /** Runs `work`, again if somebody was faster, until what it read and what it wrote are one step. It may run several times. */
  transact<T>(work: (transaction: Transaction) => T): T {
    for (;;) {
      this.#play();
      const transaction = new Transaction(this.#entries);
      const result = work(transaction);
      if (transaction.isEmpty || this.#append(transaction.line())) return result;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(line: Line): boolean {
    // The line break in front ends whatever a killed process has left there.
    const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`);
    const written = writeSync(this.#file, bytes);
    if (written < bytes.length)
      throw new Error(`only ${written} of ${bytes.length} bytes could be written: the job is not stored`);
    this.#own = { id: line.id, accepted: false };
    this.#play();
    return this.#own.accepted;
  }

  /** Reads what has been appended since, by anybody. */
  #play(): void {
    for (;;) {
      const read = readSync(this.#file, this.#buffer, 0, this.#buffer.length, this.#position);
      if (read === 0) return;
      this.#position += read;
      const bytes = Buffer.concat([this.#unfinished, this.#buffer.subarray(0, read)]);
      const end = bytes.lastIndexOf('\n') + 1;
      this.#unfinished = bytes.subarray(end);
      for (const text of bytes.toString('utf8', 0, end).split('\n')) this.#apply(text);
    }
  }

  #apply(text: string): void {
    const line = parse(text);
    if (line === null) return;
    this.#lines += 1;
    const isCurrent = ([key, number]: [string, number]) => (this.#entries.get(key)?.line ?? 0) === number;
    if (!Object.entries(line.read).every(isCurrent)) return;
    if (this.#own?.id === line.id) this.#own.accepted = true;
    for (const [key, value] of Object.entries(line.write)) {
      if (value === null) this.#entries.delete(key);
      else this.#entries.set(key, { value, line: this.#lines });
    }
  }
}

/** What one step reads and writes. It sees its own writes. */
export class Transaction {
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #read = new Map<string, number>();
  readonly #write = new Map<string, Value | null>();

  constructor(entries: ReadonlyMap<string, Entry>) {
    this.#entries = entries;
  }

  get isEmpty(): boolean {
    return this.#write.size === 0;
  }

  /** The cast is the caller's: under one key there is one kind of value. */
  get<T extends Value>(key: string): T | undefined {
    this.#read.set(key, this.#entries.get(key)?.line ?? 0);
    const written = this.#write.get(key);
    const value = written === undefined ? this.#entries.get(key)?.value : written;
    return (value ?? undefined) as T | undefined;
  }

  set(key: string, value: Value | null): void {
    this.#write.set(key, value);
  }

  /** The keys that begin with a prefix. They are not part of what was read: `get` those that matter. */
  keys(prefix: string): string[] {
    const keys = new Set([...this.#entries.keys(), ...this.#write.keys()]);
    return [...keys].filter((key) => key.startsWith(prefix) && this.#write.get(key) !== null);
  }

  line(): Line {
    return { id: randomUUID(), read: Object.fromEntries(this.#read), write: Object.fromEntries(this.#write) };
  }
}

function parse(text: string): Line | null {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
