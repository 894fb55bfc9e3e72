/** A small application, written as one writes it in one library, on one store. `Tx` is what the store's driver takes. */
export interface Application<Tx> extends AsyncDisposable {
  /** In a transaction of the library's: committed when the work is done, rolled back when it throws. */
  transaction(work: (inside: Inside<Tx>) => Promise<void>): Promise<void>;
  /** The same where the library wants another call for one that has transactions inside. */
  nesting?(work: (inside: Inside<Tx>) => Promise<void>): Promise<void>;
  /** In a transaction that is told to roll back when the work is done; null: throwing is the only way. */
  readonly rolledBack: ((work: (inside: Inside<Tx>) => Promise<void>) => Promise<void>) | null;
  /** What a caller has who was given the connection itself instead of a transaction on it, and did not notice. */
  mistaken(): Tx | Promise<Tx>;
}

/** What the application does inside a transaction. */
export interface Inside<Tx> {
  /** Writes a row into `notes`, by the library's own means. */
  note(text: string): Promise<unknown>;
  /** The transaction as the driver takes it. */
  tx(): Tx | Promise<Tx>;
  /** A transaction inside this one: a savepoint. */
  nested(work: (inside: Inside<Tx>) => Promise<void>): Promise<void>;
}
