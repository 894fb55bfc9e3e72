export interface Finding {
  /** The file from the root, with its line where there is one: `packages/core/src/queue.ts:3`. */
  readonly where: string;
  /** What is wrong there, and what to do about it. */
  readonly what: string;
}
