import { isQueueError, type NewJob, QueueError, type ReservedJob } from '@q/core';
import { type EncodedJob, encodeJob } from '@q/core/driver-kit';
import { ReferenceDriver } from '../reference-driver.js';
import type { DriverClass } from '../reference-harness.js';
import type { Row } from '../reference-store.js';
import { encoding, type Mutant, mutant, refuse } from './mutant.js';

/** Kinds of values, and the reason each is refused for. */
const KINDS: readonly (readonly [string, RegExp])[] = [
  ['function', /no function/],
  ['symbol', /no symbol/],
  ['bigint', /no bigint/],
  ['not-finite', /no (NaN|-?Infinity)/],
  ['minus-zero', /−0/],
  ['cycle', /contains itself/],
  ['named-in-a-list', /named properties/],
  ['binary', /is binary/],
  ['map-or-set', /class (Map|Set|WeakMap)/],
  ['regexp', /class RegExp/],
  ['error', /class Error/],
  ['promise', /class Promise/],
  ['class-instance', /class Money/],
  ['invalid-date', /invalid Date/],
  ['symbol-key', /drops the key/],
  ['top-level', /stands where/],
];

export const payloads: readonly Mutant[] = [
  mutant(
    'payloads/compact-text',
    'escapes slashes, as PHP does',
    rewriting((json) => json.replaceAll('/', '\\/')),
  ),
  mutant(
    'payloads/escapes',
    'drops NUL from payloads',
    rewriting((json) => json.replace(/(?<!\\)\\u0000/g, '')),
  ),
  mutant(
    'payloads/proto-keys',
    'copies payloads property by property when it hands them out',
    class extends ReferenceDriver {
      protected override inHand(row: Row, reclaimed: boolean): ReservedJob | null {
        const job = super.inHand(row, reclaimed);
        return job === null ? null : { ...job, payload: copied(job.payload) };
      }
    },
  ),
  mutant(
    'payloads/read-once',
    'checks a payload and then encodes it again',
    encoding((job) => ({ ...encodeJob(job), payloadJson: JSON.stringify(job.payload) })),
  ),
  mutant(
    'payloads/size-limit',
    'counts the characters of a payload, not its bytes',
    encoding((job) => {
      const encoded = encodeJob(job, Number.MAX_SAFE_INTEGER);
      return encoded.payloadJson.length > 65_535 ? refuse('payload_too_large', 'too large') : encoded;
    }),
  ),
  mutant(
    'payloads/depth-limit',
    'leaves the depth of a payload to JSON.stringify',
    encoding((job) => {
      try {
        return encodeJob(job);
      } catch (error) {
        if (!isQueueError(error) || !error.message.includes('depth')) throw error;
        return { ...encodeJob({ ...job, payload: {} }), payloadJson: JSON.stringify(job.payload) };
      }
    }),
  ),
  ...refusedPayloads(),
];

/** Drivers that let JSON.stringify do what it likes with one kind of value, recognised by the reason it is refused for. */
function refusedPayloads(): Mutant[] {
  return [
    ...KINDS.map(([id, reason]) =>
      mutant(`refused-payloads/${id}`, `stores what JSON makes of it: ${id}`, encoding(leniently(reason))),
    ),
    ...(['undefined-in-a-list', 'sparse-list'] as const).map((id) =>
      mutant(
        `refused-payloads/${id}`,
        `stores what JSON makes of it: ${id}`,
        encoding(leniently(/undefined in an array/, (job) => hasHole(job.payload) === (id === 'sparse-list'))),
      ),
    ),
    mutant(
      'refused-payloads/hostile',
      'lets the error of a payload’s getter through',
      encoding((job) => {
        try {
          return encodeJob(job);
        } catch (error) {
          throw (error as Error).cause ?? error;
        }
      }),
    ),
    mutant(
      'refused-payloads/message',
      'prints the payload it refuses',
      encoding((job) => {
        try {
          return encodeJob(job);
        } catch (error) {
          if (!isQueueError(error, 'payload_not_json')) throw error;
          throw new QueueError('payload_not_json', `${error.message}${printed(job.payload)}`);
        }
      }),
    ),
  ];
}

/** As much of a payload as JSON.stringify can print. */
function printed(payload: object): string {
  try {
    return ` ${JSON.stringify(payload)}`;
  } catch {
    return '';
  }
}

/** A driver that stores a payload's text as it likes. */
function rewriting(rewritten: (json: string) => string): DriverClass {
  return encoding((job) => {
    const encoded = encodeJob(job);
    return { ...encoded, payloadJson: rewritten(encoded.payloadJson) };
  });
}

/** Whether there is a list with a hole somewhere in a payload. */
function hasHole(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isSparse = Array.isArray(value) && Object.keys(value).length < value.length;
  return isSparse || Object.values(value).some(hasHole);
}

function leniently(reason: RegExp, isMeant: (job: NewJob) => boolean = () => true): (job: NewJob) => EncodedJob {
  return (job) => {
    try {
      return encodeJob(job);
    } catch (error) {
      if (!isQueueError(error, 'payload_not_json') || !reason.test(error.message) || !isMeant(job)) throw error;
      return encodeJob({ ...job, payload: {} });
    }
  };
}

function copied(value: object): object {
  if (Array.isArray(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = (value as Record<string, unknown>)[key];
  return copy;
}
