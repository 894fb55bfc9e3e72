import type { QueueLevels } from './keys.js';

// How many levels are remembered of a queue beyond those it has. As many as the script takes without a word.
const SPARE_LEVELS = 32;

/**
 * Which priorities have been seen in which queues. A script has to be told its keys before it runs, so it is given those
 * of the levels known here, and answers with what there is where it finds another.
 */
export class KnownLevels {
  readonly #levels = new Map<string, readonly number[]>();

  of(queues: readonly string[]): QueueLevels[] {
    return queues.map((queue) => ({ queue, priorities: this.#levels.get(queue) ?? [] }));
  }

  get queues(): string[] {
    return [...this.#levels.keys()];
  }

  /** Takes in a script's list: name, number of levels, levels, name, … True: there was something new. */
  learn(words: readonly string[]): boolean {
    for (let at = 0; at < words.length; ) {
      const queue = words[at] ?? '';
      const end = at + 2 + Number(words[at + 1]);
      this.#levels.set(queue, this.#kept(queue, words.slice(at + 2, end).map(Number)));
      at = end;
    }
    return words.length > 0;
  }

  /** A level that has drained is likely to be back: forgetting it at once would cost a second call each time. */
  #kept(queue: string, there: readonly number[]): readonly number[] {
    const all = new Set([...there, ...(this.#levels.get(queue) ?? [])]);
    return all.size > there.length + SPARE_LEVELS ? there : [...all];
  }

  /** Takes in what queues there are. True: there was a new one. */
  learnQueues(names: readonly string[]): boolean {
    const there = new Set(names);
    for (const queue of this.queues) if (!there.has(queue)) this.#levels.delete(queue);
    const fresh = names.filter((name) => !this.#levels.has(name));
    for (const queue of fresh) this.#levels.set(queue, []);
    return fresh.length > 0;
  }
}
