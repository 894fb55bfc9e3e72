import { equal, fail, ok } from 'node:assert/strict';
import { isQueueError, type QueueDriver, type QueueError, type QueueErrorCode } from '@q/core';

/** A caller's mistake in an argument, whichever of the three it is called. */
export const INVALID: readonly QueueErrorCode[] = ['invalid_text', 'invalid_number', 'invalid_option'];

/** What a slip of the hand may pass where failed jobs are selected. */
export const NO_SELECTION: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  'ALL',
  '',
  'all ',
  1,
  true,
  new Date(0),
  { all: true },
  { id: 1, before: new Date() },
  { before: '2030-01-01' },
  { before: 0 },
  { before: null },
  { before: undefined },
  { before: new Date(Number.NaN) },
];

/** Asserts that a call is refused with a `QueueError` of one of these codes, and resolves to it. */
export async function refused(
  call: () => unknown,
  codes: QueueErrorCode | readonly QueueErrorCode[],
  what: string,
): Promise<QueueError> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    ok(isQueueError(error), `${what} has to be refused with a QueueError; it threw ${inWords(error)}`);
    const expected = Array.isArray(codes) ? codes : [codes];
    ok(expected.includes(error.code), `${what}: the code has to be ${expected.join(' or ')}; it is ${error.code}`);
    return error;
  }
  return fail(`${what} has to be refused with a QueueError; it gave ${inWords(answer)}`);
}

/** Asserts that a refused push left nothing behind that could run. */
export async function nothingStored(driver: QueueDriver, what: string): Promise<void> {
  equal(await driver.pending(), 0, `${what}: nothing may be stored; pending counts a job`);
}

/** Asserts that two moments are the same, to the millisecond. */
export function sameMoment(actual: Date | null, expected: Date, what: string): void {
  equal(actual?.toISOString() ?? null, expected.toISOString(), what);
}

/** Asserts that the same ids are in both lists, in any order. */
export function sameIds(actual: readonly number[], expected: readonly number[], what: string): void {
  equal(sorted(actual), sorted(expected), what);
}

/** As much of a value as a message holds; the rest is cut. */
const SHOWN = 400;

/** A value for a message; values that throw when they are read as text included. */
export function inWords(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof RegExp) return String(value);
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    const text = JSON.stringify(value) ?? String(value);
    return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
  } catch {
    return `a ${typeof value}`;
  }
}

function sorted(list: readonly number[]): string {
  return [...list].sort((a, b) => a - b).join(', ');
}
