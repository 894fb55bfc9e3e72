import type { InTransaction, QueueBatches, QueueBatchLeases, QueueDriver, QueueLeases } from '@q/core';

export type StoreKind = 'postgres' | 'mariadb' | 'sqlite' | 'redis';

/** Where a process of a storm finds its store. */
export interface Place {
  readonly kind: StoreKind;
  /** A URL; for SQLite a file. */
  readonly url: string;
}

export type ChaosDriver = QueueDriver & QueueBatches & QueueLeases & QueueBatchLeases;

/** What a process of a storm does with a store, whatever it is. */
export interface Client {
  readonly driver: ChaosDriver;
  /** Null on a store without transactions. */
  readonly transactions: Transactions | null;
  /** Whether the store said in so many words that it did nothing. */
  isRefusal(error: unknown): boolean;
  /** Whether an error leaves open what became of the call, as one has to that came after it was sent. */
  admitsDoubt(error: unknown): boolean;
  close(): Promise<void>;
}

interface Transactions {
  begin(): Promise<OpenTransaction>;
}

/** A transaction of the application's, on a connection of its own. */
export interface OpenTransaction {
  /** What `job.complete` takes. */
  readonly tx: unknown;
  readonly jobs: InTransaction;
  /** Writes a row of the application's. */
  leaveEffect(push: string): Promise<void>;
  commit(): Promise<void>;
  /** Also where the connection is gone. Never rejects. */
  rollback(): Promise<void>;
}

export interface ClientOptions {
  readonly now: () => Date;
  /** Seconds after which a call of the driver is given up. */
  readonly callTimeout: number;
}

/** The table of the application in which jobs leave their effects. */
export const EFFECTS = 'effects';
