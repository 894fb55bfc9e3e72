import { QueueError } from '@q/core';
import { kindOf } from '@q/core/driver-kit';

/** The jobs of one queue and one priority: what they wait in is apart from every other level's. */
export interface Level {
  readonly queue: string;
  readonly priority: number;
}

/** A queue and some of its priorities, the highest first. */
export interface QueueLevels {
  readonly queue: string;
  readonly priorities: readonly number[];
}

/** Where a claimed job is: what `Job.handle` says. */
export interface Place extends Level {
  /** The id of its stream entry. */
  readonly entry: string;
}

/**
 * Every key of the driver. All begin with the prefix as a hash tag, so that one prefix is one slot of a cluster, and none
 * is named after a job or a unique key, so that a script can be told all of its keys before it runs.
 */
export class Keys {
  /** Those of the prefix, in the order in which every script takes them. */
  readonly shared: readonly string[];
  readonly #tag: string;

  constructor(prefix: string) {
    this.#tag = `{${prefix}}`;
    const names = ['id', 'jobs', 'unique', 'queues', 'failed', 'failed:jobs'];
    this.shared = names.map((name) => `${this.#tag}:${name}`);
  }

  bell(queue: string): string {
    return `${this.#tag}:bell:${queue}`;
  }

  /** The keys of the queues and of these levels of theirs, after the shared ones: what a script is sent. */
  of(queues: readonly QueueLevels[]): string[] {
    const keys = [...this.shared];
    for (const { queue, priorities } of queues) {
      // The queue comes last, so that no name can be taken for another kind of key.
      keys.push(`${this.#tag}:levels:${queue}`, this.bell(queue));
      for (const priority of priorities) {
        const level = `${priority}:${queue}`;
        keys.push(`${this.#tag}:ready:${level}`, `${this.#tag}:claims:${level}`, `${this.#tag}:delayed:${level}`);
      }
    }
    return keys;
  }
}

/** What tells a script which of its keys are whose: the arguments that stand first. */
export function keyArguments(queues: readonly QueueLevels[]): string[] {
  const words = [String(queues.length)];
  for (const { queue, priorities } of queues) words.push(queue, String(priorities.length), ...priorities.map(String));
  return words;
}

/** `1718000000000-0:5:mail`: entry, priority, queue. */
export function handleOf({ entry, priority, queue }: Place): string {
  return `${entry}:${priority}:${queue}`;
}

/** What a handle says, or null for one that no reserve of this driver gave. */
export function placeOf(handle: string): Place | null {
  const [, entry, priority, queue] = /^(\d+-\d+):(-?\d{1,10}):(.{1,128})$/su.exec(handle) ?? [];
  if (entry === undefined || queue === undefined) return null;
  return { entry, priority: Number(priority), queue };
}

/** The prefix, if it can be a hash tag: braces would end the tag early, or make the whole key one. Throws `invalid_option`. */
export function checkPrefix(value: unknown): string {
  if (typeof value !== 'string') {
    throw new QueueError('invalid_option', `prefix has to be text; got ${kindOf(value)}`);
  }
  if (/^[^{}\s\p{Cc}\p{Surrogate}]{1,64}$/u.test(value)) return value;
  const got = JSON.stringify(value.slice(0, 80));
  throw new QueueError(
    'invalid_option',
    `prefix has to be 1 to 64 characters without braces, white space and control characters; got ${got}`,
  );
}
