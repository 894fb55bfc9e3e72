/** A job as the reference store keeps it: the columns of the SQL table, times in whole seconds since 1970. */
export interface Row {
  readonly id: number;
  queue: string;
  name: string;
  payloadJson: string;
  attempts: number;
  maxAttempts: number;
  priority: number;
  unique: string | null;
  availableAt: number;
  reservedUntil: number | null;
  reservedBy: string | null;
  lastError: string;
  createdAt: number;
}

export interface FailedRow {
  readonly id: number;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  readonly attempts: number;
  readonly error: string;
  readonly failedAt: number;
}

export interface Listener {
  readonly queues: readonly string[];
  readonly wake: () => void;
}

/** The database: two tables, the application's own, and the transactions that are open. */
export class MemoryStore {
  readonly jobs = new Map<number, Row>();
  readonly failed = new Map<number, FailedRow>();
  readonly notes: string[] = [];
  readonly open = new Set<MemoryTransaction>();
  readonly listeners = new Set<Listener>();
  #lastJobId = 0;
  #lastFailedId = 0;

  nextJobId(): number {
    return ++this.#lastJobId;
  }

  nextFailedId(): number {
    return ++this.#lastFailedId;
  }

  begin(): MemoryTransaction {
    const transaction = new MemoryTransaction(this);
    this.open.add(transaction);
    return transaction;
  }

  /** Puts a row where everybody sees it, and tells who waits for it. */
  add(row: Row): void {
    this.jobs.set(row.id, row);
    for (const listener of this.listeners) {
      if (listener.queues.includes(row.queue)) queueMicrotask(() => callQuietly(listener.wake));
    }
  }

  /** The open transaction that has deleted a job: whoever else wants that job waits for its end. */
  lockerOf(id: number): MemoryTransaction | undefined {
    for (const transaction of this.open) if (transaction.deleted.has(id)) return transaction;
    return undefined;
  }
}

/** What one transaction has done, kept apart until it commits. */
export class MemoryTransaction {
  readonly inserted: Row[] = [];
  readonly deleted = new Set<number>();
  readonly notes: string[] = [];
  readonly ended: Promise<void>;
  readonly #store: MemoryStore;
  #tellEnded: () => void = () => {};

  constructor(store: MemoryStore) {
    this.#store = store;
    this.ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
  }

  commit(): void {
    this.rollback();
    for (const id of this.deleted) this.#store.jobs.delete(id);
    for (const row of this.inserted) this.#store.add(row);
    this.#store.notes.push(...this.notes);
  }

  rollback(): void {
    this.#store.open.delete(this);
    this.#tellEnded();
  }
}

function callQuietly(wake: () => void): void {
  try {
    wake();
  } catch {
    // A listener's own fault: a real driver would report it. It must not reach the one who pushed.
  }
}
