// However many there are, no statement takes long, or is longer than a server takes.
const CHUNK_IDS = 1_000;

/** The list in parts of as many ids, or of what has one, as go in one statement. */
export function* chunksOf<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += CHUNK_IDS) yield list.slice(start, start + CHUNK_IDS);
}
