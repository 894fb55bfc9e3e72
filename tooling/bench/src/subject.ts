export const STORES = ['postgres', 'redis', 'sqlite', 'mariadb'] as const;
export type StoreKind = (typeof STORES)[number];

/** What is measured: q, or a bare client on q's own tables. A job is a number, from 0 up. */
export interface Subject {
  /** How many jobs it may take in hand at once, in its best configuration. */
  readonly batch: number;
  /** Makes what the store has to hold first. Not measured. */
  install(): Promise<void>;
  /** Resolves when the job is stored. */
  push(job: number): Promise<void>;
  /** Resolves when all of them are stored, in one call of the subject. */
  pushMany(jobs: readonly number[]): Promise<void>;
  /** How many jobs the store holds, those in hand included. */
  count(): Promise<number>;
  /** Runs jobs until `until` resolves, and resolves when it has recorded as done what it ran. */
  work(options: WorkOptions): Promise<void>;
  close(): Promise<void>;
}

export interface WorkOptions {
  /** `best`: the subject's best documented configuration. `one`: a job at a time. */
  readonly concurrency: 'best' | 'one';
  readonly effect: (job: number) => void;
  readonly until: Promise<void>;
}

/** What all subjects push. */
export const NAME = 'count';
