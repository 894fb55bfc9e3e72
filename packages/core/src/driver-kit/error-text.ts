import { QueueError } from '../errors.js';
import { kindOf } from '../limits.js';

/** UTF-8 bytes of error text a driver stores: docs/protocol.md#error-text. */
export const MAX_ERROR_BYTES = 60_000;

const TRUNCATED = '\n... truncated';

/**
 * Error text as a driver may store it, in `release` and `fail` alike: well-formed, without NUL (Postgres cannot hold
 * one), and if it is longer than 60,000 UTF-8 bytes, cut to at most that on a character boundary with
 * `\n... truncated` appended. Throws `invalid_text` for what is not text.
 */
export function trimErrorText(error: unknown): string {
  if (typeof error !== 'string') {
    throw new QueueError('invalid_text', `The error of a job has to be text; got ${kindOf(error)}`);
  }
  // No character is shorter than a byte: the cut before the scan keeps a 20 MB message from being scanned whole.
  const long = error.length > MAX_ERROR_BYTES;
  const text = storable(long ? error.slice(0, MAX_ERROR_BYTES + 1) : error);
  if (!long && text.length * 3 <= MAX_ERROR_BYTES) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (!long && bytes.length <= MAX_ERROR_BYTES) return text;
  return bytes.subarray(0, characterBoundary(bytes, MAX_ERROR_BYTES)).toString('utf8') + TRUNCATED;
}

/** U+FFFD where a NUL or half a surrogate pair stands. */
function storable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

/** The largest length of at most `limit` bytes that ends between two characters. */
function characterBoundary(bytes: Buffer, limit: number): number {
  let end = Math.min(limit, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
}
