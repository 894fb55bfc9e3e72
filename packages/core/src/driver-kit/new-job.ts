import type { NewJob } from '../driver.js';
import { QueueError } from '../errors.js';
import { checkDelay, checkJobs, checkMaxAttempts, checkPriority, checkText, checkUnique, kindOf } from '../limits.js';
import { encodePayload } from '../payload.js';

/** A new job, checked and encoded: nothing about it can be refused any more, so the first statement may be sent. */
export interface EncodedJob {
  readonly name: string;
  readonly payloadJson: string;
  readonly delay: number;
  readonly queue: string;
  readonly priority: number;
  readonly unique: string | null;
  readonly maxAttempts: number;
}

/** Checks a job against every limit and encodes its payload. Throws `invalid_text`, `invalid_number`, `payload_…`. */
export function encodeJob(job: NewJob, maxPayloadBytes?: number): EncodedJob {
  if (typeof job !== 'object' || job === null) {
    throw new QueueError('invalid_option', `A job to push has to be an object; got ${kindOf(job)}`);
  }
  return {
    name: checkText('name', job.name),
    queue: checkText('queue', job.queue),
    unique: checkUnique(job.unique),
    delay: checkDelay(job.delay),
    priority: checkPriority(job.priority),
    maxAttempts: checkMaxAttempts(job.maxAttempts),
    payloadJson: encodePayload(job.payload, maxPayloadBytes),
  };
}

/** `encodeJob` for a batch; what is refused is named by its place in the list. Nothing has been stored by then. */
export function encodeJobs(jobs: readonly NewJob[], maxPayloadBytes?: number): EncodedJob[] {
  return checkJobs(jobs, (job) => encodeJob(job, maxPayloadBytes));
}
