import type { Job } from '../../src/index.js';

/** A handler in a module of its own, which a producer never loads. */
export class Rebuild {
  handle(payload: { full?: boolean; parts: readonly string[] }, job: Job<unknown>) {
    return payload.parts.length + job.id;
  }
}
