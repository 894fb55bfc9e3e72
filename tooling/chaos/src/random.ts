/** Numbers from 0 to below 1 that follow from a seed: the same storm twice (mulberry32). */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of them. Throws where there is none. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new Error('there is nothing to pick from');
  return picked;
}

/** A whole number from `least` to `most`, both included. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}
