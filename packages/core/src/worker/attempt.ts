import type { JobRef } from '../events.js';
import type { JobInHand } from '../job.js';

/** A job in hand, from its claim until its outcome is written. */
export interface Attempt {
  readonly job: JobInHand;
  /** The monotonic moment until which the claim was certainly alive when it was last made or renewed. */
  claimEndsMs: number;
  /** A renewal was refused: the claim is gone for good, and is not renewed again. */
  isLost: boolean;
  /** The longest delay of the event loop seen while the job was in hand. */
  eventLoopDelayMs: number;
  /** When its handler was started. */
  startedMs: number;
  /** What is to be written has been decided; a second decision (an abandoned handler's, a hurried leave's) is void. */
  isSettled: boolean;
}

export function jobRef({ job }: Attempt): JobRef {
  return { id: job.id, queue: job.queue, name: job.name, attempts: job.attempts, maxAttempts: job.maxAttempts };
}
