import { equal, ok } from 'node:assert/strict';
import type { FailedJob, QueueDriver } from '@q/core';
import { aCase, type ConformanceCase, type Context } from '../case.js';
import { aJob, only, reserveOne, rowOf } from '../fixtures.js';
import type { JobRow } from '../harness.js';

const LIMIT = 60_000;
const TRUNCATED = '\n... truncated';

type WithRows = Context<'jobRows' | 'failedRows'>;

interface Text {
  readonly id: string;
  readonly name: string;
  /** Errors, and what is stored of each. */
  readonly errors: readonly (readonly [string, string])[];
}

const TEXTS: readonly Text[] = [
  {
    id: 'whole',
    name: 'An error of exactly 60,000 bytes is stored whole, whatever its characters',
    errors: ['x', 'é', '€', '😀'].map((character) => whole(character.repeat(LIMIT / Buffer.byteLength(character)))),
  },
  {
    id: 'cut',
    name: 'An error over 60,000 bytes is cut to 60,000, and says so',
    errors: [1, 2, 1_000_000].map((over) => ['x'.repeat(LIMIT + over), 'x'.repeat(LIMIT) + TRUNCATED]),
  },
  {
    id: 'cut-between-characters',
    name: 'An error over 60,000 bytes is never cut inside a character',
    errors: [
      [`${'x'.repeat(LIMIT - 1)}é`, 'x'.repeat(LIMIT - 1) + TRUNCATED],
      [`${'x'.repeat(LIMIT - 2)}€`, 'x'.repeat(LIMIT - 2) + TRUNCATED],
      [`${'x'.repeat(LIMIT - 3)}😀 and more`, 'x'.repeat(LIMIT - 3) + TRUNCATED],
      [`x${'😀'.repeat(LIMIT / 4)}`, `x${'😀'.repeat(LIMIT / 4 - 1)}${TRUNCATED}`],
    ],
  },
];

/** What some stores cannot hold as it is. What becomes of it is not laid down; that the rest survives is. */
const UNSTORABLE = ['before\0after', 'before\ud800after', 'before\udc00\ud800after'];

export const errorText: readonly ConformanceCase[] = (['release', 'fail'] as const).flatMap((method) => [
  ...TEXTS.map(({ id, name, errors }) =>
    aCase({
      id: `error-text/${method}-${id}`,
      name: `${name} (${method})`,
      rule: 'error-text',
      needs: ['jobRows', 'failedRows'],
      run: async (context) => {
        for (const [error, expected] of errors) {
          const stored = await storedError(method, context, error);
          ok(
            stored === expected,
            `of ${described(error)} there has to be ${described(expected)}; it is ${described(stored)}`,
          );
        }
      },
    }),
  ),
  aCase({
    id: `error-text/${method}-storable`,
    name: `An error with NUL or half a surrogate pair in it is recorded: it cannot make the recording fail (${method})`,
    rule: 'error-text',
    needs: ['jobRows', 'failedRows'],
    run: async (context) => {
      for (const error of UNSTORABLE) {
        const stored = await storedError(method, context, error);
        ok(stored.startsWith('before') && stored.endsWith('after'), `the rest has to survive: ${described(stored)}`);
        ok(stored === Buffer.from(stored).toString(), `what is stored has to be well-formed: ${described(stored)}`);
      }
    },
  }),
]);

/** The error as it is stored when a job of its own is released or failed with it. */
async function storedError(method: 'release' | 'fail', context: WithRows, error: string): Promise<string> {
  const { driver, jobRows, failedRows } = context;
  const seen = new Set((await failedRows()).map(({ id }) => id));
  const id = await driver.push(aJob());
  const claim = await reserveOne(driver);
  equal(await act(driver, method, claim, error), true, method);
  if (method === 'release') {
    const { lastError }: JobRow = rowOf(await jobRows(), id);
    await driver.delete(await reserveOne(driver));
    return lastError;
  }
  const rows: readonly FailedJob[] = await failedRows();
  return only(rows.filter((row) => !seen.has(row.id))).error;
}

function act(
  driver: QueueDriver,
  method: 'release' | 'fail',
  claim: Parameters<QueueDriver['fail']>[0],
  error: string,
) {
  return method === 'release' ? driver.release(claim, 0, error) : driver.fail(claim, error);
}

function whole(error: string): readonly [string, string] {
  return [error, error];
}

/** A text of 60,000 bytes in a message. */
function described(text: string): string {
  return `a text of ${Buffer.byteLength(text)} bytes that ends with ${JSON.stringify(text.slice(-30))}`;
}
