/** A job as it is stored. Times are whole seconds since 1970. */
export interface ModelJob {
  /** Null until the store has told it: only the store knows the id of a job that it requeued. */
  id: number | null;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  attempts: number;
  readonly maxAttempts: number;
  readonly priority: number;
  readonly unique: string | null;
  availableAt: number;
  reservedUntil: number | null;
  reservedBy: string | null;
  lastError: string;
  readonly createdAt: number;
}

export interface ModelFailure {
  /** Null until the store has told it. */
  id: number | null;
  readonly queue: string;
  readonly name: string;
  readonly payloadJson: string;
  readonly attempts: number;
  readonly error: string;
  readonly failedAt: number;
}

/** What a worker asks for. `mayTakeOver`: also jobs whose claim has expired. */
export interface Request {
  readonly queues: readonly string[];
  readonly timeout: number;
  readonly worker: string;
  readonly mayTakeOver: boolean;
}

/** A job in hand, and whether it was taken over from a claim that had expired. */
export interface Taken {
  readonly job: ModelJob;
  readonly reclaimed: boolean;
}

/** The payloads of the jobs that the driver gave, in its order: they decide where the contract lets it choose. */
export type Given = readonly string[];

/** What is given of a job that is stored. */
export type Stored = Pick<ModelJob, 'queue' | 'name' | 'payloadJson' | 'priority' | 'unique' | 'maxAttempts'> & {
  readonly delay: number;
};
