/** What scripts answer, which is texts, whole numbers and lists of them, in every version of the protocol. */

export function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

export function textsOf(reply: unknown): string[] {
  return listOf(reply).map(String);
}

export function numbersOf(reply: unknown): number[] {
  return listOf(reply).map(Number);
}

/** A list in which every `size` texts belong together. */
export function rowsOf(reply: unknown, size: number): string[][] {
  const texts = textsOf(reply);
  const rows: string[][] = [];
  for (let at = 0; at < texts.length; at += size) rows.push(texts.slice(at, at + size));
  return rows;
}
